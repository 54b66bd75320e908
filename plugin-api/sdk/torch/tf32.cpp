#include "sdk/torch/tf32.h"

#include <ATen/Context.h>

#include <string>

#include "sdk/failure.h"

namespace lerobot::sdk {
namespace {

// Read through the newer interface, set through the calls that keep the older one equal: after the newer setter alone
// torch's readers of the older one throw.
bool is_tf32(at::Float32Op operation) {
  return at::globalContext().float32Precision(at::Float32Backend::CUDA, operation) == at::Float32Precision::TF32;
}

std::uint32_t state(bool on) {
  return on ? LRA_TF32_ON : LRA_TF32_OFF;
}

bool wanted(std::uint32_t setting, bool before) {
  return setting == LRA_TF32_LEAVE ? before : setting == LRA_TF32_ON;
}

struct Pair {
  bool matmul;
  bool convolution;
  bool operator==(const Pair&) const = default;
};

Pair read(const Tf32Switches& switches) {
  return {switches.matmul(), switches.convolution()};
}

/// Moves only what differs: a switch that is to be left is not touched.
void write(const Tf32Switches& switches, const Pair& now, const Pair& goal) {
  if (now.matmul != goal.matmul) switches.set_matmul(goal.matmul);
  if (now.convolution != goal.convolution) switches.set_convolution(goal.convolution);
}

std::string text(const Pair& pair) {
  return std::string("matmul ") + (pair.matmul ? "on" : "off") + ", convolution " + (pair.convolution ? "on" : "off");
}

}  // namespace

const Tf32Switches kCudaTf32 = {
    [] { return is_tf32(at::Float32Op::MATMUL); },
    [](bool on) { at::globalContext().setAllowTF32CuBLAS(on); },
    [] { return is_tf32(at::Float32Op::CONV); },
    [](bool on) { at::globalContext().setAllowTF32CuDNN(on); },
};

const Tf32Switches kOneDnnTf32 = {
    [] { return at::globalContext().allowTF32OneDNN(); },
    [](bool on) { at::globalContext().setAllowTF32OneDNN(on); },
    [] { return at::globalContext().allowTF32OneDNN(); },
    [](bool on) { at::globalContext().setAllowTF32OneDNN(on); },
};

lra_tf32 read_tf32(const Tf32Switches& switches) {
  const Pair now = read(switches);
  return {.struct_size = sizeof(lra_tf32),
          .matmul = state(now.matmul),
          .convolution = state(now.convolution),
          .reserved = 0};
}

void write_tf32(const Tf32Switches& switches, const lra_tf32& settings, std::string_view hint) {
  const Pair before = read(switches);
  const Pair goal = {wanted(settings.matmul, before.matmul), wanted(settings.convolution, before.convolution)};
  write(switches, before, goal);
  const Pair after = read(switches);
  if (after == goal) return;
  write(switches, after, before);
  throw Failure(LRA_UNSUPPORTED, "TF32 (" + text(goal) + "): torch answers " + text(after), std::string(hint));
}

}  // namespace lerobot::sdk
