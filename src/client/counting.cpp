#include "client/counting.hpp"

#include "client/request.hpp"
#include "protocol/counting_semaphore.hpp"

#include <utility>

namespace holdfast::detail {

namespace {

counted const& counted_of(target const& on) {
    return static_cast<counted const&>(*on.speaks);
}

error_code check(std::int64_t number, std::int64_t least) {
    bool const right = number >= least && number <= counted::greatest;
    return right ? error_code{} : make_error_code(errc::invalid_options);
}

error_code read_change(
    script_reply const& reply,
    bool& done,
    client_state& from,
    target const& of
) {
    auto const read = counted::read_request(reply);
    done = read.done;
    if (!read.valid) {
        return errc::corrupt_state;
    }
    if (done) {
        from.acquires().on_freed(of, read.notified);
    }
    return {};
}

error_code read_value(
    script_reply const& reply,
    std::int64_t& value,
    client_state&,
    target const& of
) {
    auto const read = counted_of(of).read_number(reply);
    value = read.value_or(0);
    return read ? error_code{} : make_error_code(errc::corrupt_state);
}

}  // namespace

void change_number(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> on,
    std::int64_t number,
    std::int64_t least,
    call (*make)(counted::request const& what),
    change_handler handler
) {
    send_request(
        std::move(client),
        std::move(on),
        std::move(handler),
        true,
        check(number, least),
        [make, number](client_state& by, target const& of, holder_id const& id, nanos timeout) {
            return make({of, id, number, remembered_for(by.settings()), timeout});
        },
        [](script_reply const& reply, client_state& from, target const& of) {
            bool done = false;
            return read_change(reply, done, from, of);
        }
    );
}

void start_try_set_number(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    std::int64_t number,
    success_handler handler
) {
    send_request(
        std::move(client),
        std::move(key),
        std::move(handler),
        true,
        check(number, 0),
        [number](client_state& by, target const& of, holder_id const& id, nanos timeout) {
            auto const kept = remembered_for(by.settings());
            return counted_of(of).try_set({of, id, number, kept, timeout});
        },
        &read_change
    );
}

void start_read_number(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    number_handler handler
) {
    send_request(
        std::move(client),
        std::move(key),
        std::move(handler),
        false,
        {},
        [](client_state&, target const& of, holder_id const&, nanos timeout) {
            return counted::read(of, timeout);
        },
        &read_value
    );
}

void start_drain_permits(
    std::shared_ptr<client_state> client,
    std::shared_ptr<target const> key,
    number_handler handler
) {
    send_request(
        std::move(client),
        std::move(key),
        std::move(handler),
        true,
        {},
        [](client_state& by, target const& of, holder_id const& id, nanos timeout) {
            auto const kept = remembered_for(by.settings());
            return counting_semaphore_protocol_type::drain({of, id, 0, kept, timeout});
        },
        &read_value
    );
}

}  // namespace holdfast::detail
