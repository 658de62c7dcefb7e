#ifndef CAFFE_SOLVER_FACTORY_H_
#define CAFFE_SOLVER_FACTORY_H_

#include <map>
#include <string>
#include <vector>

#include "caffe/common.hpp"
#include "caffe/proto/caffe.pb.h"

// Solvers make themselves known by type name. A solver's source file ends with
//
//   INSTANTIATE_CLASS(MyAwesomeSolver);
//   REGISTER_SOLVER_CLASS(MyAwesome);
//
// and a solver prototxt may then say type: "MyAwesome".

namespace caffe {

template <typename Dtype>
class Solver;

template <typename Dtype>
class SolverRegistry {
 public:
  typedef Solver<Dtype>* (*Creator)(const SolverParameter&);
  typedef std::map<string, Creator> CreatorRegistry;

  static CreatorRegistry& Registry();
  static void AddCreator(const string& type, Creator creator);
  // The caller owns the solver. Throws Error when nobody registered the type.
  static Solver<Dtype>* CreateSolver(const SolverParameter& param);
  static vector<string> SolverTypeList();

 private:
  SolverRegistry();
  static string SolverTypeListString();
};

template <typename Dtype>
class SolverRegisterer {
 public:
  SolverRegisterer(const string& type,
                   Solver<Dtype>* (*creator)(const SolverParameter&)) {
    SolverRegistry<Dtype>::AddCreator(type, creator);
  }
};

#define REGISTER_SOLVER_CREATOR(type, creator)                              \
  static SolverRegisterer<float> g_creator_f_##type(#type, creator<float>); \
  static SolverRegisterer<double> g_creator_d_##type(#type, creator<double>)

#define REGISTER_SOLVER_CLASS(type)                                     \
  template <typename Dtype>                                             \
  Solver<Dtype>* Creator_##type##Solver(const SolverParameter& param) { \
    return new type##Solver<Dtype>(param);                              \
  }                                                                     \
  REGISTER_SOLVER_CREATOR(type, Creator_##type##Solver)

}  // namespace caffe

#endif  // CAFFE_SOLVER_FACTORY_H_
