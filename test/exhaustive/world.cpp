#include "exhaustive/world.hpp"

#include <stdexcept>
#include <utility>

namespace holdfast::exhaustive {

world first_world(scope const& of) {
    world w;
    w.left = {
        static_cast<std::uint8_t>(of.crashes),
        static_cast<std::uint8_t>(of.late),
        static_cast<std::uint8_t>(of.duplicates),
        static_cast<std::uint8_t>(of.losses),
        static_cast<std::uint8_t>(of.refusals),
        static_cast<std::uint8_t>(of.flushes),
        static_cast<std::uint8_t>(of.removals),
    };
    for (std::size_t number = 0; number < w.clients.size(); ++number) {
        auto& all = w.clients[number].acquisitions;
        for (auto i = static_cast<std::size_t>(of.acquisitions[number]); i < all.size(); ++i) {
            all[i].where = phase::over;
        }
    }
    return w;
}

namespace {

/// Small numbers, one behind the other in a word.
class bit_writer {
public:
    void put(unsigned value, unsigned width) {
        if (value >> width != 0) {
            throw std::logic_error("a number is too large for this scope");
        }
        word_ |= static_cast<std::uint64_t>(value) << used_;
        used_ += width;
        if (used_ > 64) {
            throw std::logic_error("a world does not fit");
        }
    }
    [[nodiscard]] std::uint64_t word() const noexcept { return word_; }

private:
    std::uint64_t word_ = 0;
    unsigned used_ = 0;
};

class bit_reader {
public:
    explicit bit_reader(std::uint64_t word) noexcept : word_{word} {}

    std::uint8_t take(unsigned width) noexcept {
        auto const value = word_ & ((std::uint64_t{1} << width) - 1);
        word_ >>= width;
        return static_cast<std::uint8_t>(value);
    }

private:
    std::uint64_t word_;
};

constexpr unsigned width_of_now = 5;

std::uint8_t other_place(std::uint8_t holder) noexcept {
    return holder == 0 ? holder : holder_of(1 - client_of(holder), acquisition_of(holder));
}

struct rest_of_world {
    tick now = 0;
    lock_server server;
    sequence<stray, 2> strays;
    faults left;
    bool strayed = false;
    std::uint8_t robbed = 0;
    bool faultless = true;
};

rest_of_world rest_of(world const& w) {
    return {w.now, w.server, w.strays, w.left, w.strayed, w.robbed, w.faultless};
}

std::uint64_t pack_rest(rest_of_world w) {
    auto& strays = w.strays;
    // Their order means nothing.
    if (strays.size == 2 &&
        std::pair{strays[0].what, strays[0].holder} > std::pair{strays[1].what, strays[1].holder}) {
        std::swap(strays[0], strays[1]);
    }
    bit_writer rest;
    rest.put(w.now, width_of_now);
    rest.put(w.server.holder, 3);
    rest.put(w.server.ends, 6);
    rest.put(w.server.count, 2);
    rest.put(w.server.subscribed[0], 1);
    rest.put(w.server.subscribed[1], 1);
    for (auto const& each : strays.items) {
        rest.put(static_cast<unsigned>(each.what), 2);
        rest.put(each.holder, 3);
    }
    rest.put(w.left.crashes, 2);
    rest.put(w.left.late, 2);
    rest.put(w.left.duplicates, 2);
    rest.put(w.left.losses, 2);
    rest.put(w.left.refusals, 2);
    rest.put(w.left.flushes, 2);
    rest.put(w.left.removals, 2);
    rest.put(w.strayed, 1);
    rest.put(w.robbed, client_count * most_acquisitions);
    rest.put(w.faultless, 1);
    return rest.word();
}

rest_of_world unpack_rest(std::uint64_t word) {
    rest_of_world w;
    bit_reader rest{word};
    w.now = rest.take(width_of_now);
    w.server.holder = rest.take(3);
    w.server.ends = rest.take(6);
    w.server.count = rest.take(2);
    w.server.subscribed = {rest.take(1) != 0, rest.take(1) != 0};
    for (auto& each : w.strays.items) {
        each.what = static_cast<script>(rest.take(2));
        each.holder = rest.take(3);
        w.strays.size = static_cast<std::uint8_t>(w.strays.size + (each.holder != 0 ? 1 : 0));
    }
    // Those that are there come first.
    if (w.strays.size == 1 && w.strays[0].holder == 0) {
        std::swap(w.strays[0], w.strays[1]);
    }
    w.left.crashes = rest.take(2);
    w.left.late = rest.take(2);
    w.left.duplicates = rest.take(2);
    w.left.losses = rest.take(2);
    w.left.refusals = rest.take(2);
    w.left.flushes = rest.take(2);
    w.left.removals = rest.take(2);
    w.strayed = rest.take(1) != 0;
    w.robbed = rest.take(client_count * most_acquisitions);
    w.faultless = rest.take(1) != 0;
    return w;
}

}  // namespace

packed_world packer::pack(world const& w) {
    packed_world const packed{
        {number_of(w.clients[0]), number_of(w.clients[1])},
        pack_rest(rest_of(w))
    };
    return stands_for_other(packed) ? other(packed) : packed;
}

packed_world packer::pack(world const& w, packed_world const& last) {
    auto packed = last;
    for (std::size_t i = 0; i < packed.clients.size(); ++i) {
        if (!(clients_[packed.clients[i]] == w.clients[i])) {
            packed.clients[i] = number_of(w.clients[i]);
        }
    }
    packed.rest = pack_rest(rest_of(w));
    return stands_for_other(packed) ? other(packed) : packed;
}

world packer::unpack(packed_world const& packed) const {
    auto const rest = unpack_rest(packed.rest);
    return {
        {clients_[packed.clients[0]], clients_[packed.clients[1]]},
        rest.server,
        rest.strays,
        rest.left,
        rest.now,
        rest.strayed,
        rest.robbed,
        rest.faultless
    };
}

tick packer::now_of(packed_world const& packed) noexcept {
    return bit_reader{packed.rest}.take(width_of_now);
}

std::uint64_t packer::rest_of_other(std::uint64_t rest) {
    auto w = unpack_rest(rest);
    std::swap(w.server.subscribed[0], w.server.subscribed[1]);
    w.server.holder = other_place(w.server.holder);
    for (auto& each : w.strays) {
        each.holder = other_place(each.holder);
    }
    std::uint8_t robbed = 0;
    for (std::uint8_t holder = 1; holder <= client_count * most_acquisitions; ++holder) {
        if (is_robbed(w.robbed, holder)) {
            robbed |= robbed_bit(other_place(holder));
        }
    }
    w.robbed = robbed;
    return pack_rest(w);
}

}  // namespace holdfast::exhaustive
