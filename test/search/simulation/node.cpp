#include "simulation/node.hpp"

#include <boost/asio/detached.hpp>

#include <utility>

namespace holdfast::sim {

node::node(setting& all, std::uint32_t number, double rate)
    : all_{all},
      number_{number},
      process_{std::make_unique<process>(all.in, number, rate)} {
    view_of const view{*process_};
    auto& own = process_->new_lane();
    lanes_.push_back(&own);
    client_.emplace(process_->executor_of(own), all_.client);
}

node::~node() {
    kill();
}

lane& node::add_user() {
    ++working_;
    lanes_.push_back(&process_->new_lane());
    return *lanes_.back();
}

lane& node::random_lane() {
    return *lanes_[all_.in.dice().below(lanes_.size())];
}

void node::kill() {
    if (std::exchange(killed_, true)) {
        return;
    }
    process_->kill();
    all_.judge.on_killed(*process_);
    view_of const view{*process_};
    working_ = 0;
    if (all_.in.dice().chance(50)) {
        client_.reset();
    }
    process_.reset();
    client_.reset();
}

void node::close(bool shut_down) {
    closed_ = true;
    all_.judge.counting().on_gone(*process_);
    view_of const view{*process_};
    if (shut_down) {
        client_->shutdown(asio::detached);
    } else {
        if (holding()) {
            all_.judge.reached(sometimes::destroyed_holding);
        }
        client_.reset();
    }
}

}  // namespace holdfast::sim
