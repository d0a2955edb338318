#ifndef HOLDFAST_FWD_HPP
#define HOLDFAST_FWD_HPP

#include <boost/system/error_code.hpp>

namespace boost::asio {}

/// Distributed locks for Boost.Asio programs, on Redis and Valkey. Start with `client`.
///
/// In this namespace `asio` stands for `boost::asio`, and `error_code` for
/// `boost::system::error_code`.
namespace holdfast {

namespace asio = boost::asio;
using boost::system::error_code;

class client;
class counting_semaphore;
class election;
class fair_lock;
class latch;
class leader_observer;
class leadership;
class lease;
class lock;
class multi_lease;
class multi_lock;
class owner;
class quorum_lease;
class quorum_lock;
class read_lock;
class read_write_lock;
class write_lock;
class semaphore;
struct config;

template <class Derived, class Lease>
class lockable;

namespace detail {
class client_state;
class lease_group;
class mandate;
class observation;
class tenure;
struct campaign_access;
struct election_keys;
struct lease_access;
struct lease_share;
struct multi_members;
struct quorum_members;
struct target;
}  // namespace detail

}  // namespace holdfast

#endif
