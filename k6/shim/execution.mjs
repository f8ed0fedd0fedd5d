import { vu } from './state.mjs'

const execution = {
  vu: {
    get idInTest() { return vu.id },
    get iterationInInstance() { return vu.iteration },
  },
  scenario: {
    get name() { return vu.scenario },
  },
}

export const { vu: vuInfo, scenario } = execution
export default execution
