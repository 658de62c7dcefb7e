#include "bench/contender.hpp"

#include <map>

namespace caffe {

namespace {

std::multimap<int, std::function<void(Contenders*)>>& Makers() {
  static std::multimap<int, std::function<void(Contenders*)>> makers;
  return makers;
}

}  // namespace

ContenderMaker::ContenderMaker(int order,
                               std::function<void(Contenders*)> make) {
  Makers().emplace(order, std::move(make));
}

Contenders MakeContenders() {
  Contenders contenders;
  for (const auto& [order, make] : Makers()) make(&contenders);
  return contenders;
}

}  // namespace caffe
