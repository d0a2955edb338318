#ifndef HOLDFAST_TEST_SUPPORT_EXPECTED_REPLIES_HPP
#define HOLDFAST_TEST_SUPPORT_EXPECTED_REPLIES_HPP

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace holdfast::test {

/// What a proxy does with a reply when it comes.
enum class reply_fate { deliver, lose, lose_and_cut, drop_from_here };

/// A command, and what is to become of its reply.
struct expected_reply {
    std::vector<std::string> command{};  // empty: none was sent
    reply_fate fate = reply_fate::deliver;
};

/// Finds for a message of the server what was decided when its command went by.
///
/// Replies come in the order of the commands. Pushes come in between, and with RESP3 a
/// subscription is confirmed by pushes only, one for each channel; these keep an order too.
class expected_replies {
public:
    void command_sent(std::vector<std::string> words, reply_fate fate);
    expected_reply message_came(std::string_view message);

private:
    bool resp3_ = false;
    std::deque<expected_reply> replies_;
    std::deque<expected_reply> confirmations_;
};

bool is_push(std::string_view message);

/// The words of a command; bytes that are not RESP are one word.
std::vector<std::string> words_of_command(std::string_view message);

}  // namespace holdfast::test

#endif
