#include "simulation/node.hpp"

#include <boost/asio/detached.hpp>

#include <utility>

namespace holdfast::sim {

node::node(setting& all, std::uint32_t number, double rate)
    : all_{all},
      number_{number},
      settings_{all.client},
      process_{std::make_unique<process>(all.in, number, rate)} {
    view_of const view{*process_};
    auto const add_client = [this](config settings) {
        observers_.push_back(std::make_shared<observer_judge>(all_.in, number_, !all_.hosts.empty())
        );
        settings.observer = observers_.back();
        auto& own = process_->new_lane();
        lanes_.push_back(&own);
        clients_.push_back(std::make_unique<holdfast::client>(process_->executor_of(own), settings)
        );
    };
    if (all_.hosts.empty()) {
        add_client(all_.client);
    }
    for (auto const& host : all_.hosts) {
        auto settings = all_.client;
        settings.host = host;
        add_client(settings);
    }
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
    for (auto const& one : observers_) {
        one->on_killed();
    }
    all_.judge.on_killed(*process_);
    all_.quorums.on_killed(*process_);
    view_of const view{*process_};
    working_ = 0;
    if (all_.in.dice().chance(50)) {
        clients_.clear();
    }
    process_.reset();
    clients_.clear();
}

void node::close(bool shut_down) {
    closed_ = true;
    all_.judge.on_closed(*process_);
    all_.judge.counting().on_gone(*process_);
    view_of const view{*process_};
    if (shut_down) {
        for (auto const& one : clients_) {
            one->shutdown(asio::detached);
        }
    } else {
        if (holding()) {
            all_.judge.reached(sometimes::destroyed_holding);
        }
        clients_.clear();
    }
}

}  // namespace holdfast::sim
