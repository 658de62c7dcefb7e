#!/usr/bin/env python3
"""Writes train_val.prototxt and deploy.prototxt of VGG-19 (configuration E of
Simonyan and Zisserman, 2014).

    models/vgg19/generate.py [FOLDER]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from vgg import write_vgg

write_vgg('VGG_ILSVRC_19_layers',
          [[64] * 2, [128] * 2, [256] * 4, [512] * 4, [512] * 4])
