# Python for the package caffe: sets CAFFE_BUILD_PYTHON, if it is AUTO, to whether
# it can be built, and finds Python3 and pybind11 if so.
#
# The interpreter that comes first on PATH need not be the one that has numpy
# (a pyenv, say, does not see the system's packages), so the first one that has
# what is needed is taken. -DPython3_EXECUTABLE=... chooses another.

set(CAFFE_BUILD_PYTHON AUTO CACHE STRING
    "Build the package caffe for Python: ON, OFF, or AUTO for where it can be")
set(python_needs "import numpy, google.protobuf")

if(NOT DEFINED Python3_EXECUTABLE)
  find_program(CAFFE_PYTHON_ON_PATH NAMES python3)
  mark_as_advanced(CAFFE_PYTHON_ON_PATH)
  foreach(candidate ${CAFFE_PYTHON_ON_PATH} /usr/bin/python3
                    /usr/local/bin/python3)
    execute_process(COMMAND ${candidate} -c ${python_needs}
                    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
    if(result EQUAL 0)
      set(Python3_EXECUTABLE ${candidate} CACHE FILEPATH
          "The Python to build the package caffe for")
      break()
    endif()
  endforeach()
endif()

set(has_python OFF)
if(DEFINED Python3_EXECUTABLE)
  find_package(Python3 QUIET
    COMPONENTS Interpreter Development.Module
    OPTIONAL_COMPONENTS Development.Embed)
  find_package(pybind11 2.9 QUIET CONFIG)
  if(Python3_FOUND AND pybind11_FOUND)
    set(has_python ON)
  endif()
endif()

if(CAFFE_BUILD_PYTHON STREQUAL "AUTO")
  set(CAFFE_BUILD_PYTHON ${has_python})
elseif(CAFFE_BUILD_PYTHON AND NOT has_python)
  message(FATAL_ERROR
    "CAFFE_BUILD_PYTHON needs a Python 3 with its development files, numpy, "
    "protobuf and pybind11 (Debian: python3-dev python3-numpy python3-protobuf "
    "pybind11-dev); -DPython3_EXECUTABLE=... says which one to take")
endif()
if(CAFFE_BUILD_PYTHON)
  message(STATUS "Package for Python ${Python3_VERSION}: ${Python3_EXECUTABLE}")
else()
  message(STATUS "No package for Python (docs/python.md tells what it needs)")
endif()
