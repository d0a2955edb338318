#ifndef FLASH_SALE_PROCESSES_HPP
#define FLASH_SALE_PROCESSES_HPP

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace flash_sale {

/// A process that ends with this object, and with this process however that ends.
class child_process {
public:
    /// `argv[0]` is looked for on PATH unless it is a path.
    explicit child_process(std::vector<std::string> argv);
    ~child_process();
    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&& other) = delete;

    /// The next line that the process prints; throws if it ends or takes too long.
    [[nodiscard]] std::string read_line();

    [[nodiscard]] bool running();

    /// Returns when the process has stopped: from then on it does nothing until it is resumed or
    /// killed.
    void pause();
    void resume();

    void kill();

private:
    void end(int signal);

    std::string name_;
    pid_t pid_ = -1;
    int output_ = -1;
};

/// A Redis server without a port, on a socket in a folder of its own.
class private_redis {
public:
    private_redis();
    ~private_redis();
    private_redis(private_redis const&) = delete;
    private_redis& operator=(private_redis const&) = delete;

    [[nodiscard]] std::string url() const;

private:
    void wait_until_listening();

    std::filesystem::path folder_;
    std::optional<child_process> process_;
};

struct server_process {
    child_process process;
    std::uint16_t port = 0;
};

/// Starts the servers of the sale and waits until they listen. Their program is beside our own.
/// With `metrics_port`, the first one has its metrics there, and the others at the next ports.
[[nodiscard]] std::vector<server_process> start_servers(
    std::size_t count,
    std::string const& redis_url,
    std::string const& locks_url,
    bool locked,
    std::uint16_t metrics_port
);

}  // namespace flash_sale

#endif
