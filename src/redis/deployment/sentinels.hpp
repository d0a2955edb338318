#ifndef HOLDFAST_REDIS_DEPLOYMENT_SENTINELS_HPP
#define HOLDFAST_REDIS_DEPLOYMENT_SENTINELS_HPP

#include "core/sentinel_tally.hpp"
#include "redis/address_source.hpp"
#include "redis/connection_log.hpp"
#include "redis/sentinel_query.hpp"
#include "redis/subscription_connection.hpp"
#include "runtime/runtime.hpp"

#include <holdfast/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <random>
#include <vector>

namespace holdfast::detail {

/// The Sentinels of a client. They are asked, all at once, before each epoch of a connection; and a
/// connection to each of them listens for switches of the primary.
///
/// An announcement is a reason to ask its Sentinel, and no more: it has no config epoch, and may be
/// late. Only the Sentinels that the settings name are used: what a Sentinel says of others may be
/// the address of a network that the client is not in.
///
/// Used on the client's strand.
class sentinels final : public address_source, public std::enable_shared_from_this<sentinels> {
public:
    sentinels(asio::any_io_executor strand, std::shared_ptr<config const> settings);
    sentinels(sentinels const&) = delete;
    sentinels& operator=(sentinels const&) = delete;
    ~sentinels();

    /// Listens to the Sentinels, too.
    void start(move_handler moved) override;
    void stop() override;
    [[nodiscard]] asio::awaitable<answer> find() override;

private:
    class sentinel;
    // A question to all. Both connections of a server may wait for the answer.
    struct round;

    [[nodiscard]] std::shared_ptr<round> begin_round();
    void on_answer(round& in, sentinel_answer const& what);
    void on_news(sentinel_answer const& what);
    void conclude(round& which);
    /// What was known before may not be true any more.
    void tell_if_moved();
    /// In [0, 1).
    [[nodiscard]] double random_part() { return std::generate_canonical<double, 32>(jitter_); }

    asio::any_io_executor strand_;
    std::shared_ptr<config const> settings_;
    std::shared_ptr<connection_log> log_;
    sentinel_tally tally_;
    std::minstd_rand jitter_;
    std::vector<std::shared_ptr<sentinel>> all_;
    std::shared_ptr<round> round_;
    // The settings of the primary that is known.
    std::shared_ptr<config const> there_;
    std::uint64_t version_ = 0;
    move_handler moved_;
    bool stopped_ = false;
};

}  // namespace holdfast::detail

#endif
