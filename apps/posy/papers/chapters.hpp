// The chapters of the report. Each says first which experiments it wants, then, when they are done, what to
// write: our figure beside the printed one.
#pragma once

#include <string>
#include <string_view>

#include "laboratory.hpp"
#include "printed.hpp"
#include "report.hpp"

namespace posy::tool::papers {

section write_formulas(const laboratory&);
section write_bounds(const laboratory&);
void ask_fan(laboratory&);
section write_fan(const laboratory&);
void ask_mitzenmacher(laboratory&);
section write_mitzenmacher(const laboratory&);
void ask_limits(laboratory&);
section write_limits(const laboratory&);
void ask_simulation(laboratory&);
section write_simulation(const laboratory&);
void ask_survey(laboratory&);
section write_survey(const laboratory&);
section write_sets(const laboratory&);
void ask_slides(laboratory&);
section write_slides(const laboratory&);
section write_hadoop(const laboratory&);
section write_counters(const laboratory&);

// Sections of a chapter that have a file of their own, appended to it: figures (figures.cpp), messages
// (messages.cpp), flows and applications (flows.cpp).
void ask_fan_figure(laboratory&);
void add_fan_figure(const laboratory&, section&);
void ask_mitzenmacher_figures(laboratory&);
void add_mitzenmacher_figures(const laboratory&, section&);

void ask_deltas(laboratory&);
void add_coder(const laboratory&, section&);
void add_deltas(const laboratory&, section&);
void add_counting_message(const laboratory&, section&);
void add_flows(const laboratory&, section&);

// How often a chapter's own small experiment is done: a thousandth of the trials, but at least 16.
std::uint64_t small_trials(const laboratory&);

// The simulations as a table: for the report and for the terminal.
table simulation_table(const laboratory&);

// "1 filter", "1,000 filters".
std::string several(std::uint64_t n, const std::string& one);

// Digits enough to compare with what is printed.
std::string shown(double value);
// Empty where nothing was measured.
std::string shown(const tally*, purpose, double bits_per_item, unsigned hashes);

}  // namespace posy::tool::papers
