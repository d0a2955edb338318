#ifndef HOLDFAST_FWD_HPP
#define HOLDFAST_FWD_HPP

#include <boost/system/error_code.hpp>

namespace boost::asio {}

namespace holdfast {

namespace asio = boost::asio;
using boost::system::error_code;

class client;
class lease;
class lock;
class owner;
struct config;

namespace detail {
class client_state;
class grant;
struct lease_share;
struct key_names;
}  // namespace detail

}  // namespace holdfast

#endif
