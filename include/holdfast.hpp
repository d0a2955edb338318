// holdfast: a distributed lock for Boost.Asio programs, on Redis and Valkey.
//
// Copyright (c) the holdfast authors
// Distributed under the Boost Software License, Version 1.0 (see LICENSE)

#ifndef HOLDFAST_HPP
#define HOLDFAST_HPP

#include <holdfast/client.hpp>
#include <holdfast/client_status.hpp>
#include <holdfast/config.hpp>
#include <holdfast/counting_semaphore.hpp>
#include <holdfast/election.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>
#include <holdfast/fair_lock.hpp>
#include <holdfast/fencing_token.hpp>
#include <holdfast/format.hpp>
#include <holdfast/latch.hpp>
#include <holdfast/leader_info.hpp>
#include <holdfast/leader_observer.hpp>
#include <holdfast/leadership.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/lease_clock.hpp>
#include <holdfast/lease_duration.hpp>
#include <holdfast/lease_state.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/lock_info.hpp>
#include <holdfast/lock_name.hpp>
#include <holdfast/lockable.hpp>
#include <holdfast/logger.hpp>
#include <holdfast/multi_lease.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/named_lock.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/options.hpp>
#include <holdfast/owner.hpp>
#include <holdfast/quorum_lease.hpp>
#include <holdfast/quorum_lock.hpp>
#include <holdfast/read_write_lock.hpp>
#include <holdfast/semaphore.hpp>
#include <holdfast/semaphore_info.hpp>
#include <holdfast/stats.hpp>
#include <holdfast/stats_source.hpp>
#include <holdfast/version.hpp>
#include <holdfast/with_lease.hpp>

#endif
