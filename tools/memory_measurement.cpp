#include "memory_measurement.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <sstream>

#include "caffe/memory/ledger.hpp"
#include "caffe/solver_factory.hpp"
#include "compress/solver_compression.hpp"

namespace caffe {

namespace {

// One line: what went wrong, nothing if nothing did. Then numbers, and one line
// a tensor: its ratio and its name.
string Write(const Measurement& measured) {
  std::ostringstream out;
  out << '\n'
      << measured.workspace << ' ' << measured.program << ' '
      << measured.process << ' ' << measured.ratio << '\n';
  for (const auto& [name, ratio] : measured.ratios) {
    out << ratio << ' ' << name << '\n';
  }
  return out.str();
}

Measurement Read(const string& text) {
  std::istringstream in(text);
  string error;
  std::getline(in, error);
  Require(error.empty(), error);
  Measurement measured;
  in >> measured.workspace >> measured.program >> measured.process >>
      measured.ratio;
  Require(!in.fail(), "the process that measures ended before its time");
  string name;
  for (double ratio = 0; in >> ratio && std::getline(in >> std::ws, name);) {
    measured.ratios[name] = ratio;
  }
  return measured;
}

Measurement RunIteration(const SolverParameter& param) {
  const std::unique_ptr<Solver<float>> solver(
      SolverRegistry<float>::CreateSolver(param));
  solver->Step(1);
  Measurement measured;
  measured.process = memory::PeakOfProcess();
  const memory::Sums peak = memory::Ledger::Get().peak();
  measured.workspace = peak[static_cast<size_t>(memory::Kind::kWorkspace)];
  const size_t known = memory::TotalOf(peak);
  measured.program = measured.process > known ? measured.process - known : 0;
  if (solver->compression() == nullptr) return measured;
  double raw = 0;
  double kept = 0;
  for (const auto& report : solver->compression()->Reports()) {
    if (report.kept != "packed" || report.kept_bytes == 0) continue;
    raw += static_cast<double>(report.raw_bytes);
    kept += static_cast<double>(report.kept_bytes);
    measured.ratios[report.name] = static_cast<double>(report.raw_bytes) /
                                   static_cast<double>(report.kept_bytes);
  }
  if (kept > 0) measured.ratio = raw / kept;
  return measured;
}

void WriteAll(int to, const string& text) {
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(to, text.data() + at, text.size() - at);
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

string ReadAll(int from) {
  string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(from, buffer, sizeof(buffer))) > 0;) {
    text.append(buffer, static_cast<size_t>(n));
  }
  return text;
}

}  // namespace

Measurement MeasureIteration(const SolverParameter& param) {
  int ends[2];
  Require(pipe(ends) == 0, "cannot make a pipe to measure with");
  const pid_t child = fork();
  Require(child >= 0, "cannot start a process to measure in");
  if (child == 0) {
    string result;
    try {
      result = Write(RunIteration(param));
    } catch (const std::exception& error) {
      result = error.what();
    }
    WriteAll(ends[1], result);
    std::_Exit(0);
  }
  close(ends[1]);
  const string result = ReadAll(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return Read(result);
}

}  // namespace caffe
