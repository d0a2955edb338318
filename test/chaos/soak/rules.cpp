#include "soak/rules.hpp"

namespace holdfast::soak {

std::string_view name_of(rule broken) {
    switch (broken) {
        case rule::malformed: return "malformed history";
        case rule::clean_start: return "clean start";
        case rule::exclusion: return "exclusion";
        case rule::deadline: return "deadline";
        case rule::data_loss: return "data loss";
        case rule::dead_on_arrival: return "dead on arrival";
        case rule::validity: return "validity";
        case rule::permits: return "permits";
        case rule::majority: return "majority";
        case rule::observation: return "observation";
        case rule::token_order: return "token order";
        case rule::token_reuse: return "token reuse";
        case rule::stale_access: return "stale access";
        case rule::lost_update: return "lost update";
        case rule::told_in_time: return "told in time";
        case rule::renewal: return "renewal";
        case rule::progress: return "progress";
        case rule::hand_over: return "hand-over";
        case rule::promptness: return "promptness";
        case rule::redirection: return "redirection";
        case rule::nothing_left: return "nothing left";
        case rule::survival: return "survival";
    }
    return "?";
}

}  // namespace holdfast::soak
