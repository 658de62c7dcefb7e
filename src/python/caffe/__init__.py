"""Caffe in Python: nets, solvers, layers, and what feeds and shows them."""

from ._caffe import (Blob, Error, Layer, Solver, Timer, __version__, get_solver,
                     has_nccl, init_log, layer_type_list, log, set_device,
                     set_mode_cpu, set_mode_gpu, set_multiprocess,
                     set_random_seed, set_solver_count, set_solver_rank,
                     solver_count, solver_rank)
from .proto.caffe_pb2 import TEST, TRAIN
from .pycaffe import (NCCL, AdaDeltaSolver, AdaGradSolver, AdamSolver, Net,
                      NesterovSolver, RMSPropSolver, SGDSolver)
from .classifier import Classifier
from .detector import Detector
from . import io
from .net_spec import NetSpec, layers, params, to_proto
