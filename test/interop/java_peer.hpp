#ifndef HOLDFAST_TEST_INTEROP_JAVA_PEER_HPP
#define HOLDFAST_TEST_INTEROP_JAVA_PEER_HPP

#include "support/child_process.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace holdfast::test {

/// The versions of Redisson that the peer is built with.
std::vector<std::string> redisson_versions();

struct java_peer_options {
    std::string version;
    std::uint16_t port = 0;
    std::chrono::milliseconds watchdog{30'000};  // the lease of a lock that is renewed
    bool brief = true;  // the process does not live long enough to be worth optimising
};

/// A process that uses Redisson as it is told (java/src/main/java/Peer.java).
///
/// Commands may be given from any single-threaded context that lives longer than the peer.
class java_peer {
public:
    struct answer {
        bool ok = false;
        std::string text;                // after "ok" or "error"
        std::vector<std::string> lines;  // before it
    };

    /// Starts the process. Commands wait for it.
    explicit java_peer(java_peer_options const& options);
    java_peer(java_peer const&) = delete;
    java_peer& operator=(java_peer const&) = delete;
    ~java_peer();

    /// Lets a thread of the peer run a command. The commands of one thread run one after the other.
    /// If the process has ended, or ends, the answer is not `ok`.
    boost::asio::awaitable<answer> ask(std::string thread, std::string words);

    /// The text of an answer that is `ok`; throws `std::runtime_error` with any other.
    boost::asio::awaitable<std::string> tell(std::string thread, std::string words);

    /// Completes once the process is connected to the server.
    boost::asio::awaitable<void> ready();

    /// The name of a thread that nobody else uses.
    std::string new_thread();

    void pause() { process_.pause(); }
    void resume() { process_.resume(); }
    void kill() { process_.kill(); }

private:
    struct request;

    std::shared_ptr<request> add(std::uint64_t number, boost::asio::any_io_executor executor);
    void read();
    void take(std::string const& line);
    static void complete(std::shared_ptr<request> const& of);

    child_process process_;
    std::mutex mutex_;
    std::map<std::uint64_t, std::shared_ptr<request>> pending_;
    std::uint64_t last_number_ = 0;
    std::uint64_t last_thread_ = 0;
    bool connected_ = false;
    bool ended_ = false;
    std::thread reader_;
};

}  // namespace holdfast::test

#endif
