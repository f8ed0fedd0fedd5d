import sys

from drover_worker.main import main

sys.exit(main())
