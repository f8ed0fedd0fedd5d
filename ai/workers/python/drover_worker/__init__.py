"""An AI worker of Drover: takes frames of cameras by the tap, decodes them, runs a
detector on the newest, and reports what it saw.

    tap.py      the conversation with Drover: watching, coming back, reporting
    decode.py   access units in, pictures out
    newest.py   from many cameras, each one's newest picture, fairly
    hog.py      OpenCV's people detector, which needs no download
    onnx.py     any detector in an ONNX file
    track.py    the same thing in picture after picture has one number
    work.py     all of it together
"""
