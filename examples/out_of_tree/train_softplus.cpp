// Trains a net with a layer of its own, on points in and around a circle.
//
//   train_softplus SOLVER_PROTOTXT
//
// Exits with 0 when training brought the loss down to a tenth.

#include <iostream>

#include "caffe/caffe.hpp"

using caffe::Blob;
using caffe::Caffe;
using caffe::Net;
using caffe::shared_ptr;
using caffe::Solver;
using caffe::SolverParameter;
using caffe::SolverRegistry;
using std::string;

// A grid over [-1, 1] x [-1, 1]; points within 0.7 of the middle are labelled
// 1, the others 0.
static void FillWithPoints(Net<float>* net) {
  const shared_ptr<Blob<float> > data = net->blob_by_name("data");
  const shared_ptr<Blob<float> > label = net->blob_by_name("label");
  const int side = 16;
  CHECK_EQ(side * side, data->num());
  float* points = data->mutable_cpu_data();
  for (int i = 0; i < data->num(); ++i) {
    const float x = (i % side + 0.5f) / side * 2 - 1;
    const float y = (i / side + 0.5f) / side * 2 - 1;
    points[data->offset(i, 0)] = x;
    points[data->offset(i, 1)] = y;
    label->mutable_cpu_data()[i] = x * x + y * y < 0.49f;
  }
}

int main(int argc, char** argv) {
  caffe::GlobalInit(&argc, &argv);
  if (argc != 2) {
    std::cerr << "usage: train_softplus SOLVER_PROTOTXT" << std::endl;
    return 1;
  }
  Caffe::set_mode(Caffe::CPU);
  SolverParameter param;
  caffe::ReadSolverParamsFromTextFileOrDie(argv[1], &param);
  shared_ptr<Solver<float> > solver(SolverRegistry<float>::CreateSolver(param));
  Net<float>* net = solver->net().get();
  FillWithPoints(net);

  float before;
  net->Forward(&before);
  solver->Solve();
  float after;
  net->Forward(&after);
  std::cout << "loss before: " << before << ", after " << solver->iter()
            << " iterations: " << after << std::endl;
  return after < before / 10 ? 0 : 1;
}
