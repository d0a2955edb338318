#include "interop/java_peer.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace holdfast::test {

namespace asio = boost::asio;

namespace {

// Constants of the compiler: the tables of tests ask for versions before main.
constexpr char const* versions_file = HOLDFAST_SOURCE_DIR "/test/interop/java/versions";
constexpr char const* built_folder = HOLDFAST_SOURCE_DIR "/build/interop/";

// The number of what is waited for that is no command: the connection.
constexpr std::uint64_t connecting = 0;

std::vector<std::string> command_line(java_peer_options const& options) {
    auto const folder = built_folder + options.version;
    std::vector<std::string> words{"java", "-Xmx192m", "-XX:+UseSerialGC", "-Xshare:auto"};
    if (options.brief) {
        words.push_back("-XX:TieredStopAtLevel=1");
    }
    words.insert(
        words.end(),
        {"-cp",
         folder + "/classes:" + folder + "/libraries/*",
         "Peer",
         "redis://127.0.0.1:" + std::to_string(options.port),
         std::to_string(options.watchdog.count())}
    );
    return words;
}

// Cuts the first word off.
std::string next_word(std::string_view& text) {
    auto const end = text.find(' ');
    std::string const word{text.substr(0, end)};
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    return word;
}

}  // namespace

std::vector<std::string> redisson_versions() {
    std::ifstream in{versions_file};
    std::vector<std::string> versions;
    for (std::string line; std::getline(in, line);) {
        versions.push_back(line);
    }
    return versions;
}

// The timer stands for the answer: it is cancelled when that is there.
struct java_peer::request {
    explicit request(asio::any_io_executor const& executor)
        : timer{executor, asio::steady_timer::time_point::max()} {}

    asio::steady_timer timer;
    answer result;
};

java_peer::java_peer(java_peer_options const& options)
    : process_{command_line(options), {.standard_input = child_input::pipe}},
      reader_{[this] { read(); }} {}

java_peer::~java_peer() {
    process_.close_input();
    process_.kill();
    reader_.join();
}

std::shared_ptr<java_peer::request> java_peer::add(
    std::uint64_t number,
    asio::any_io_executor executor
) {
    auto const added = std::make_shared<request>(executor);
    bool const answered = ended_ || (number == connecting && connected_);
    if (answered) {
        added->result = {.ok = !ended_, .text = "the peer has ended", .lines = {}};
        complete(added);
    } else {
        pending_.emplace(number, added);
    }
    return added;
}

asio::awaitable<java_peer::answer> java_peer::ask(std::string thread, std::string words) {
    auto const executor = co_await asio::this_coro::executor;
    std::shared_ptr<request> added;
    {
        std::lock_guard const hold{mutex_};
        auto const number = ++last_number_;
        added = add(number, executor);
        // If the process has ended, its reader answers.
        process_.write_line(std::to_string(number) + " " + thread + " " + words);
    }
    co_await added->timer.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return std::move(added->result);
}

asio::awaitable<std::string> java_peer::tell(std::string thread, std::string words) {
    auto given = co_await ask(std::move(thread), words);
    if (!given.ok) {
        throw std::runtime_error{words + ": " + given.text};
    }
    co_return given.text;
}

asio::awaitable<void> java_peer::ready() {
    auto const executor = co_await asio::this_coro::executor;
    std::shared_ptr<request> added;
    {
        std::lock_guard const hold{mutex_};
        added = add(connecting, executor);
    }
    co_await added->timer.async_wait(asio::as_tuple(asio::use_awaitable));
    if (!added->result.ok) {
        throw std::runtime_error{"the Java peer did not start"};
    }
}

std::string java_peer::new_thread() {
    return "t" + std::to_string(++last_thread_);
}

void java_peer::read() {
    constexpr std::chrono::hours for_ever{24};
    while (auto const line = process_.read_line(for_ever)) {
        std::lock_guard const hold{mutex_};
        take(*line);
    }
    std::lock_guard const hold{mutex_};
    ended_ = true;
    for (auto const& [number, left] : pending_) {
        left->result = {.ok = false, .text = "the peer has ended", .lines = {}};
        complete(left);
    }
    pending_.clear();
}

void java_peer::take(std::string const& line) {
    std::string_view rest = line;
    auto const first = next_word(rest);
    connected_ = connected_ || first == "ready";
    auto const found = pending_.find(first == "ready" ? connecting : std::stoull(first));
    if (found == pending_.end()) {
        return;
    }
    auto const& of = found->second;
    std::string_view text = rest;
    auto const kind = next_word(text);
    if (found->first != connecting && kind != "ok" && kind != "error") {
        of->result.lines.emplace_back(rest);
        return;
    }
    of->result.ok = kind != "error";
    of->result.text = text;
    complete(of);
    pending_.erase(found);
}

void java_peer::complete(std::shared_ptr<request> const& of) {
    // Runs after the coroutine that asks has begun to wait, which it does without a pause.
    asio::post(of->timer.get_executor(), [of] { of->timer.cancel(); });
}

}  // namespace holdfast::test
