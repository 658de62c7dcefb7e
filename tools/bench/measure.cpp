#include "bench/measure.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <sstream>

#include "caffe/error.hpp"
#include "codec_measures.hpp"

namespace caffe {

namespace {

template <typename Body>
double Seconds(const Body& body) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  body();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void Copy(const Tensor& from, Tensor* to) {
  const size_t bytes = from.bytes();
#pragma omp parallel
  {
    const size_t threads = omp_get_num_threads();
    const size_t thread = omp_get_thread_num();
    const size_t begin = bytes * thread / threads;
    const size_t end = bytes * (thread + 1) / threads;
    std::memcpy(to->data() + begin, from.data() + begin, end - begin);
  }
}

double Least(double a, double b) { return a == 0 ? b : std::min(a, b); }

// Everything in turn, several times, so that what disturbs one disturbs all.
Times MeasureTimes(Contender* contender, const Tensor& tensor, double bound,
                   int repeats, std::span<uint8_t> packed, Tensor* restored) {
  Times best;
  for (int i = 0; i < repeats; ++i) {
    best.copy = Least(best.copy, Seconds([&] { Copy(tensor, restored); }));
    size_t size = 0;
    best.compress = Least(best.compress, Seconds([&] {
                            size = contender->Compress(tensor, bound, packed);
                          }));
    best.decompress =
        Least(best.decompress, Seconds([&] {
                contender->Decompress(packed.first(size), bound, restored);
              }));
  }
  return best;
}

double CountZeros(const Tensor& tensor) {
  return tensor.Visit([](auto values) {
    return static_cast<double>(std::count(values.begin(), values.end(), 0));
  });
}

Measurement MeasureOrThrow(Contender* contender, const Tensor& tensor,
                           double bound, int repeats, int threads) {
  Measurement result;
  result.contender = contender->name();
  result.tensors = 1;
  result.raw_bytes = static_cast<double>(tensor.bytes());
  result.is_real = contender->is_real();
  result.is_parallel = contender->is_parallel() && threads > 1;
  std::vector<uint8_t> packed(contender->MaxBytes(tensor));
  const size_t size = contender->Compress(tensor, bound, packed);
  result.packed_bytes = static_cast<double>(size);
  if (!result.is_real) return result;
  Tensor restored(tensor.shape(), tensor.type());
  contender->Decompress({packed.data(), size}, bound, &restored);
  const Errors errors = Compare(tensor, restored);
  result.error_over_bound = errors.largest == 0 ? 0 : errors.largest / bound;
  result.zeros = CountZeros(tensor);
  result.kept_zeros = result.zeros * errors.zeros_kept;

  omp_set_num_threads(1);
  result.one_thread =
      MeasureTimes(contender, tensor, bound, repeats, packed, &restored);
  omp_set_num_threads(threads);
  if (result.is_parallel) {
    result.all_threads =
        MeasureTimes(contender, tensor, bound, repeats, packed, &restored);
  }
  return result;
}

// Gigabytes a second.
double Speed(double bytes, double seconds) {
  return seconds > 0 ? bytes / seconds / 1e9 : 0;
}

std::string Number(double value, int digits) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value;
  return text.str();
}

// "4.56 (0.43)": gigabytes a second, and over what copying has.
std::string SpeedText(double bytes, double seconds, double copy) {
  if (seconds == 0) return "-";
  return Number(Speed(bytes, seconds), 2) + " (" + Number(copy / seconds, 2) +
         ")";
}

std::string ErrorText(const Measurement& m) {
  if (!m.is_real) return "-";
  return m.error_over_bound < 1000 ? Number(m.error_over_bound, 4) : "> 1000";
}

std::string ZerosText(const Measurement& m) {
  if (!m.is_real || m.zeros == 0) return "-";
  return Number(100 * m.kept_zeros / m.zeros, m.kept_zeros == m.zeros ? 0 : 2);
}

}  // namespace

Times& Times::operator+=(const Times& other) {
  compress += other.compress;
  decompress += other.decompress;
  copy += other.copy;
  return *this;
}

void Measurement::Add(const Measurement& other) {
  tensors += other.tensors;
  raw_bytes += other.raw_bytes;
  packed_bytes += other.packed_bytes;
  error_over_bound = std::max(error_over_bound, other.error_over_bound);
  zeros += other.zeros;
  kept_zeros += other.kept_zeros;
  one_thread += other.one_thread;
  all_threads += other.all_threads;
}

Measurement Measure(Contender* contender, const Tensor& tensor, double bound,
                    int repeats, int threads) {
  try {
    return MeasureOrThrow(contender, tensor, bound, repeats, threads);
  } catch (const Error& error) {
    Fail(contender->name(), ": ", error.what());
  }
}

std::string Table(const std::vector<Measurement>& measurements, int threads) {
  std::vector<std::vector<std::string>> rows = {
      {"codec", "ratio", "error", "zeros %", "pack, 1 thread", "unpack"}};
  if (threads > 1) {
    rows[0].push_back("pack, " + std::to_string(threads) + " threads");
    rows[0].emplace_back("unpack");
  }
  for (const Measurement& m : measurements) {
    rows.push_back(
        {m.contender, Number(m.raw_bytes / m.packed_bytes, 2), ErrorText(m),
         ZerosText(m),
         SpeedText(m.raw_bytes, m.one_thread.compress, m.one_thread.copy),
         SpeedText(m.raw_bytes, m.one_thread.decompress, m.one_thread.copy)});
    if (threads > 1) {
      rows.back().push_back(
          SpeedText(m.raw_bytes, m.all_threads.compress, m.all_threads.copy));
      rows.back().push_back(
          SpeedText(m.raw_bytes, m.all_threads.decompress, m.all_threads.copy));
    }
  }
  std::vector<size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::ostringstream text;
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text << (i > 0 ? "  " : "") << (i == 0 ? std::left : std::right)
           << std::setw(static_cast<int>(widths[i])) << row[i];
    }
    text << '\n';
  }
  text << "\nratio: raw bytes over packed bytes; error: the largest one over "
          "the bound;\nzeros: which part of them still are; pack, unpack: GB/s "
          "of raw values\n(and over what copying them reaches)\n";
  return text.str();
}

std::string CsvHeader() {
  return "tensor,shape,codec,bound,raw_bytes,packed_bytes,ratio,"
         "error_over_bound,zeros,zeros_kept,threads,pack_gbs,unpack_gbs,"
         "copy_gbs,pack_gbs_all,unpack_gbs_all,copy_gbs_all\n";
}

std::string CsvLine(const std::string& tensor, const std::string& shape,
                    double bound, int threads, const Measurement& m) {
  std::ostringstream text;
  text << tensor << ',' << shape << ',' << m.contender << ',' << bound << ','
       << Number(m.raw_bytes, 0) << ',' << Number(m.packed_bytes, 0) << ','
       << m.raw_bytes / m.packed_bytes << ',' << m.error_over_bound << ','
       << Number(m.zeros, 0) << ',' << Number(m.kept_zeros, 0) << ','
       << threads;
  for (const Times& times : {m.one_thread, m.all_threads}) {
    text << ',' << Speed(m.raw_bytes, times.compress) << ','
         << Speed(m.raw_bytes, times.decompress) << ','
         << Speed(m.raw_bytes, times.copy);
  }
  text << '\n';
  return text.str();
}

}  // namespace caffe
