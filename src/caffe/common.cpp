#include "caffe/common.hpp"

#include <unistd.h>

#include <cstdlib>
#include <random>

#include "caffe/util/rng.hpp"
#include "device.hpp"

namespace caffe {

namespace {

unsigned int SeedFromSystem() {
  std::random_device entropy;
  return entropy() ^ static_cast<unsigned int>(getpid());
}

}  // namespace

class Caffe::RNG::Generator {
 public:
  explicit Generator(unsigned int seed) : rng_(seed) {}
  rng_t* rng() { return &rng_; }

 private:
  rng_t rng_;
};

Caffe::RNG::RNG() : RNG(SeedFromSystem()) {}
Caffe::RNG::RNG(unsigned int seed) : generator_(new Generator(seed)) {}
Caffe::RNG::RNG(const RNG&) = default;
Caffe::RNG& Caffe::RNG::operator=(const RNG&) = default;
void* Caffe::RNG::generator() { return generator_->rng(); }

Caffe::Caffe() = default;
Caffe::~Caffe() = default;

Caffe& Caffe::Get() {
  static thread_local Caffe instance;
  return instance;
}

Caffe::RNG& Caffe::rng_stream() {
  if (!Get().random_generator_) Get().random_generator_.reset(new RNG());
  return *Get().random_generator_;
}

void Caffe::set_random_seed(const unsigned int seed) {
  Get().random_generator_.reset(new RNG(seed));
}

void Caffe::set_mode(Brew mode) {
  if (mode == GPU) device::RequireDevice();
  Get().mode_ = mode;
}

void Caffe::SetDevice(const int device_id) { device::Select(device_id); }
void Caffe::DeviceQuery() { device::Query(); }
bool Caffe::CheckDevice(const int device_id) {
  return device::IsUsable(device_id);
}

int Caffe::FindDevice(const int start_id) {
  for (int id = start_id; id < device::Count(); ++id) {
    if (CheckDevice(id)) return id;
  }
  return -1;
}

void GlobalInit(int* pargc, char*** pargv) {
  // Parsers of Caffe's logs know times without the year. Older versions of the
  // library have no such flag, and no year.
  gflags::SetCommandLineOptionWithMode("log_year_in_prefix", "false",
                                       gflags::SET_FLAGS_DEFAULT);
  gflags::ParseCommandLineFlags(pargc, pargv, true);
  google::InitGoogleLogging(*(pargv)[0]);
  google::InstallFailureSignalHandler();
}

std::string SaveRng(const rng_t& rng) {
  std::ostringstream out;
  out << rng;
  return out.str();
}

void RestoreRng(const std::string& state, rng_t* rng) {
  // Boost skips white space behind the last number, too, and takes it for a
  // failure when there is none.
  std::istringstream in(state + " ");
  rng_t restored;
  in >> restored;
  Require(!in.fail(),
          "the saved state of the random number generator is damaged");
  *rng = restored;
}

}  // namespace caffe
