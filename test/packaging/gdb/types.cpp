// The debug information of the library's own types, for a library that was compiled without: a
// debugger reads these from any object of the program.
#include "client/client_state.hpp"
#include "lease/lease_group.hpp"
#include "lease/tenure.hpp"

namespace {

[[maybe_unused]] holdfast::detail::client_state* const client = nullptr;
[[maybe_unused]] holdfast::detail::lease_group* const group = nullptr;
[[maybe_unused]] holdfast::detail::tenure* const tenure = nullptr;

}  // namespace
