#include "exhaustive/server.hpp"

namespace holdfast::exhaustive {

namespace {

void publish(context& ctx, world& w) {
    if (ctx.of.defect == sabotage::no_publish) {
        return;
    }
    for (std::size_t i = 0; i < w.clients.size(); ++i) {
        if (w.server.subscribed[i]) {
            w.clients[i].pushes.push_back({push_kind::notice, false, false});
        }
    }
}

answer acquire(context& ctx, world& w, std::uint8_t holder) {
    auto& s = w.server;
    if (s.holder != 0 && s.holder != holder) {
        auto const left = s.ends == never ? never : static_cast<tick>(s.ends - w.now);
        return {outcome::no, left};
    }
    bool const again = s.holder == holder && ctx.of.defect == sabotage::acquire_counts;
    s.count = again ? static_cast<std::uint8_t>(s.count % 3 + 1) : std::uint8_t{1};
    s.holder = holder;
    s.ends = later(w.now, ctx.of.lease);
    return {outcome::yes, 0};
}

answer renew(context& ctx, world& w, std::uint8_t holder) {
    auto& s = w.server;
    if (ctx.of.defect == sabotage::renewal_creates) {
        s.holder = holder;
        s.count = 1;
    }
    if (s.holder != holder) {
        return {outcome::no, s.holder != 0};
    }
    s.ends = later(w.now, ctx.of.lease);
    return {outcome::yes, 0};
}

answer release(context& ctx, world& w, std::uint8_t holder) {
    auto& s = w.server;
    bool const any = s.holder != 0 && ctx.of.defect == sabotage::release_frees_any;
    if (s.holder != holder && !any) {
        return {outcome::no, 0};
    }
    if (--s.count == 0) {
        s.holder = 0;
        s.ends = 0;
        publish(ctx, w);
    }
    return {outcome::yes, 1};
}

}  // namespace

answer execute(context& ctx, world& w, script what, std::uint8_t holder) {
    auto const before = w.server.holder;
    answer result;
    switch (what) {
        case script::acquire: result = acquire(ctx, w, holder); break;
        case script::renew:
            result = renew(ctx, w, holder);
            ctx.expect(w.server.holder == before, "S9", "a renewal changed who has the lock");
            break;
        case script::release:
            result = release(ctx, w, holder);
            ctx.expect(
                before == holder || w.server.holder == before,
                "S7",
                "a release freed the lock of another holder"
            );
            ctx.expect(
                w.server.holder != holder,
                "S10",
                "one release did not free what several executions of one acquire had granted"
            );
            break;
        case script::none: break;
    }
    return result;
}

void remove(context& ctx, world& w) {
    w.robbed |= robbed_bit(w.server.holder);
    w.server.holder = 0;
    w.server.ends = 0;
    w.server.count = 0;
    publish(ctx, w);
}

void execute_subscription(context& ctx, world& w, int client) {
    auto& c = w.clients[static_cast<std::size_t>(client)];
    auto const asked = c.notice_requests[0];
    c.notice_requests.erase(0);
    ctx.reach_if(
        !asked.subscribe && c.subscription_wanted,
        landmark::subscribed_again_before_unsubscribed
    );
    w.server.subscribed[static_cast<std::size_t>(client)] = asked.subscribe;
    if (asked.subscribe) {
        c.pushes.push_back({push_kind::subscribed, asked.current, false});
    }
}

void expire(lock_server& s, tick now) noexcept {
    if (s.holder != 0 && s.ends != never && now >= s.ends) {
        s.holder = 0;
        s.ends = 0;
        s.count = 0;
    }
}

}  // namespace holdfast::exhaustive
