#include "client/semaphore_requests.hpp"

#include "client/request.hpp"
#include "protocol/primitive.hpp"
#include "protocol/semaphore.hpp"

#include <cstddef>
#include <utility>

namespace holdfast::detail {

namespace {

call inspect_call(client_state&, target const& asked, holder_id const&, nanos timeout) {
    return asked.speaks->inspect(asked, timeout, false);
}

}  // namespace

void inspect_semaphore(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    semaphore_inspect_handler handler
) {
    send_request(
        std::move(client),
        std::move(on),
        std::move(handler),
        false,
        {},
        &inspect_call,
        [](script_reply const& reply, semaphore_info& info, client_state& from, target const& of
        ) -> error_code {
            auto const read = read_semaphore(reply);
            if (read.what == semaphore_reading::kind::corrupt) {
                return errc::corrupt_state;
            }
            if (read.what == semaphore_reading::kind::set) {
                info.limit = read.limit;
            }
            info.available = read.available;
            info.acquired = read.acquired;
            info.waiting = static_cast<std::size_t>(read.waiting);
            info.local_waiters = from.acquires().waiters_of_name(of);
            return {};
        }
    );
}

void count_available(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    available_handler handler
) {
    send_request(
        std::move(client),
        std::move(on),
        std::move(handler),
        false,
        {},
        &inspect_call,
        [](script_reply const& reply, std::int64_t& free, client_state&, target const&)
            -> error_code {
            auto const read = read_semaphore(reply);
            free = read.available;
            bool const corrupt = read.what == semaphore_reading::kind::corrupt;
            return corrupt ? make_error_code(errc::corrupt_state) : error_code{};
        }
    );
}

void try_set_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    std::int64_t limit,
    set_permits_handler handler
) {
    bool const possible = limit >= 1 && limit <= greatest_limit;
    send_request(
        std::move(client),
        std::move(on),
        std::move(handler),
        false,
        possible ? error_code{} : make_error_code(errc::invalid_options),
        [limit](client_state&, target const& asked, holder_id const&, nanos timeout) {
            return set_permits(asked, limit, timeout);
        },
        [](script_reply const& reply, bool& now, client_state& from, target const& of
        ) -> error_code {
            switch (read_set_permits(reply)) {
                case set_permits_reply::was_set: return {};
                case set_permits_reply::set_silently:
                    from.on_not_notified(of);
                    now = true;
                    return {};
                case set_permits_reply::set_now: now = true; return {};
                case set_permits_reply::other_limit: return errc::limit_mismatch;
                case set_permits_reply::corrupt: break;
            }
            return errc::corrupt_state;
        }
    );
}

}  // namespace holdfast::detail
