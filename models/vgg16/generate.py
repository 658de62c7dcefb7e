#!/usr/bin/env python3
"""Writes train_val.prototxt and deploy.prototxt of VGG-16 (configuration D of
Simonyan and Zisserman, 2014).

    models/vgg16/generate.py [FOLDER]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..'))
from vgg import write_vgg

write_vgg('VGG_ILSVRC_16_layers',
          [[64] * 2, [128] * 2, [256] * 3, [512] * 3, [512] * 3])
