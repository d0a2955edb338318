// What libFuzzer calls. HOLDFAST_FUZZ_TARGET names the target.

#include "fuzz/targets.hpp"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    holdfast::fuzz::HOLDFAST_FUZZ_TARGET({data, size});
    return 0;
}
