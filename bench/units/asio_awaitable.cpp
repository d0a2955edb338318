// The floor of `compile_time`: what any user of Asio's coroutines pays already.
#include <boost/asio/awaitable.hpp>
