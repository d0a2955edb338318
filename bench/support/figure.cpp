#include "support/figure.hpp"

#include "support/measure.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace holdfast::bench {

namespace {

std::string number(double value) {
    if (value != 0.0 && std::abs(value) < 100.0) {
        return fmt::format("{:.3g}", value);
    }
    return fmt::format("{:.0f}", value);
}

std::string with_unit(double value, std::string const& unit) {
    return unit.empty() ? number(value) : number(value) + " " + unit;
}

std::string describe(budget const& allowed, std::string const& unit) {
    switch (allowed.what) {
        case budget::kind::ratio_at_most: return fmt::format("<= {:.2f} x", allowed.limit);
        case budget::kind::ratio_at_least: return fmt::format(">= {:.2f} x", allowed.limit);
        case budget::kind::ours_at_most: return "<= " + with_unit(allowed.limit, unit);
        case budget::kind::ours_at_least: return ">= " + with_unit(allowed.limit, unit);
        case budget::kind::above_floor_at_most: return "<= floor + " + number(allowed.limit);
        case budget::kind::none: break;
    }
    return "none";
}

std::string_view verdict(figure const& f) {
    if (!f.met) {
        return "measured";
    }
    return *f.met ? "met" : "missed";
}

// JSON has no infinity.
std::string json_number(double value) {
    return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

}  // namespace

comparison::comparison(std::string question, std::string unit, budget allowed)
    : question_{std::move(question)},
      unit_{std::move(unit)},
      allowed_{allowed} {}

void comparison::add(double ours, double floor) {
    ours_.push_back(ours);
    floor_.push_back(floor);
    if (floor != 0.0) {
        ratios_.push_back(ours / floor);
    } else {
        ratios_.push_back(ours == 0.0 ? 1.0 : std::numeric_limits<double>::infinity());
    }
}

figure comparison::result(std::string note) const {
    figure f{
        .question = question_,
        .unit = unit_,
        .ours = median(ours_),
        .floor = median(floor_),
        .ratio = median(ratios_),
        .allowed = allowed_,
        .note = std::move(note),
    };
    switch (allowed_.what) {
        case budget::kind::ratio_at_most: f.met = f.ratio <= allowed_.limit; break;
        case budget::kind::ratio_at_least: f.met = f.ratio >= allowed_.limit; break;
        case budget::kind::ours_at_most: f.met = f.ours <= allowed_.limit; break;
        case budget::kind::ours_at_least: f.met = f.ours >= allowed_.limit; break;
        case budget::kind::above_floor_at_most: f.met = f.ours <= f.floor + allowed_.limit; break;
        case budget::kind::none: break;
    }
    return f;
}

std::string to_line(figure const& f) {
    return fmt::format(
        "{} | {} | {} | {:.2f} | {} | {}{}",
        f.question,
        with_unit(f.ours, f.unit),
        with_unit(f.floor, f.unit),
        f.ratio,
        describe(f.allowed, f.unit),
        verdict(f),
        f.note.empty() ? "" : " (" + f.note + ")"
    );
}

// Every text comes from this program and needs no escapes.
std::string to_json(std::vector<figure> const& figures) {
    std::string text = "[";
    for (auto const& f : figures) {
        text += fmt::format(
            "{}\n  {{\"question\": \"{}\", \"unit\": \"{}\", \"ours\": {}, \"floor\": {}, "
            "\"median_ratio\": {}, \"budget\": \"{}\", \"verdict\": \"{}\", \"note\": \"{}\"}}",
            text.size() > 1 ? "," : "",
            f.question,
            f.unit,
            json_number(f.ours),
            json_number(f.floor),
            json_number(f.ratio),
            describe(f.allowed, f.unit),
            verdict(f),
            f.note
        );
    }
    return text + "\n]\n";
}

}  // namespace holdfast::bench
