"""Caffe's messages; caffe_pb2 is made of caffe.proto when Caffe is built."""
