#include "virtual_network.hpp"

#include "support/child_process.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <future>
#include <stdexcept>
#include <system_error>

namespace holdfast::test {

namespace {

// What a rule sends to this table goes to the loopback interface, which has no such address, and
// is forgotten. A black-hole route would tell the sender.
constexpr auto nowhere = "66";
constexpr auto priority = "100";

std::string drop(std::string const& what) {
    return std::string{"ip rule add priority "} + priority + " " + what + " lookup " + nowhere;
}

void run_here(std::string const& script) {
    static_cast<void>(run_program({"sh", "-euc", script}));
}

}  // namespace

virtual_host::virtual_host(std::size_t number)
    : address_{"10.77.0." + std::to_string(number + 1)},
      link_{"link" + std::to_string(number)},
      work_{context_.get_executor()} {
    std::promise<pid_t> entered;
    thread_ = std::thread{[this, &entered] {
        if (::unshare(CLONE_NEWNET) != 0) {
            entered.set_exception(std::make_exception_ptr(std::system_error{
                errno,
                std::generic_category(),
                "no namespaces: start the test with in_namespaces"
            }));
            return;
        }
        entered.set_value(::gettid());
        context_.run();
    }};
    try {
        auto const thread = std::to_string(entered.get_future().get());
        namespace_ = "/proc/" + std::to_string(::getpid()) + "/task/" + thread + "/ns/net";
        run_here(
            "ip link add name " + link_ + " type veth peer name eth0 netns " + thread +
            "; ip link set " + link_ + " master bridge up"
        );
        run("ip link set lo up; ip link set eth0 up; ip address add " + address_ +
            "/24 dev eth0; ip route add default dev lo table " + nowhere);
    } catch (...) {
        work_.reset();
        thread_.join();
        throw;
    }
}

virtual_host::~virtual_host() {
    work_.reset();
    thread_.join();
    try {
        // The kernel removes a namespace, and the links in it, some time after its last user.
        run_here("ip link del " + link_);
    } catch (std::exception const&) {
        // it is gone already
    }
}

server_place virtual_host::place() const {
    return {.address = address_, .launcher = {"nsenter", "--net=" + namespace_, "--"}};
}

void virtual_host::run(std::string const& script) const {
    static_cast<void>(run_program({"nsenter", "--net=" + namespace_, "--", "sh", "-euc", script}));
}

virtual_network::virtual_network(std::size_t hosts) {
    run_here("ip link add name bridge type bridge; ip link set bridge up");
    for (std::size_t i = 0; i < hosts; ++i) {
        hosts_.emplace_back(i);
    }
}

virtual_network::~virtual_network() {
    try {
        heal();  // so that what the clients still have to say does not take until a time-out
        hosts_.clear();
        run_here("ip link del bridge");
    } catch (std::exception const&) {
        // The next network fails, and says why.
    }
}

void virtual_network::split(std::initializer_list<std::vector<std::size_t>> sides) {
    for (auto const& here : sides) {
        std::string script;
        for (auto const& there : sides) {
            for (auto const host : there) {
                if (&here != &there) {
                    script += drop("to " + hosts_.at(host).address()) + "; ";
                }
            }
        }
        for (auto const host : here) {
            hosts_.at(host).run(script);
        }
    }
}

void virtual_network::cut_connection(std::size_t client, std::uint16_t port, std::size_t server) {
    auto const number = std::to_string(port);
    hosts_.at(client).run(drop("to " + hosts_.at(server).address() + " ipproto tcp sport " + number)
    );
    hosts_.at(server).run(drop("to " + hosts_.at(client).address() + " ipproto tcp dport " + number)
    );
}

void virtual_network::heal() {
    for (auto const& host : hosts_) {
        host.run(
            std::string{"while ip rule del priority "} + priority + " 2>/dev/null; do :; done"
        );
    }
}

}  // namespace holdfast::test
