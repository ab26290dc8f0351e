// Two sessions that talk to each other, and sets of keys with their texts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "posy/reconcile/session.hpp"
#include "sets.hpp"

namespace posy::reconcile {

using message_bytes = std::vector<std::byte>;

// Messages in turns until neither side has any to send. `change` may damage a message on its way. After its
// first error a side receives nothing more; what it still has to send is delivered.
struct conversation {
    session ask, answer;
    std::optional<error> ask_error{}, answer_error{};

    template <class Change>
    void run(Change change) {
        bool any = true;
        while (any) {
            any = false;
            for (const bool asking : {true, false}) {
                session& from = asking ? ask : answer;
                session& to = asking ? answer : ask;
                auto& wrong = asking ? answer_error : ask_error;
                while (auto message = from.send()) {
                    any = true;
                    change(*message);
                    if (wrong || to.done()) continue;
                    if (auto taken = to.receive(*message); !taken) wrong = taken.error();
                }
            }
        }
    }
    void run() {
        run([](message_bytes&) {});
    }
    bool good() const { return !ask_error && !answer_error && ask.done() && answer.done(); }
    std::string errors() const {
        return (ask_error ? "ask: " + ask_error->text() : "") +
               (answer_error ? " answer: " + answer_error->text() : "");
    }
};

inline conversation talk(const set_pair& sets, const settings& how, const key_owner& a = {},
                         const key_owner& b = {}) {
    return {*session::ask(sets.a, how, a), session::answer(sets.b, how, b)};
}

// One side: keys with their texts, which it gives away and recognises by their digests.
struct side {
    std::map<digest, std::string, ascending> texts;
    digest_set set;
    side(int from, int to, digest_width width, const hasher& hash = hasher()) : set(hash, width) {
        std::vector<digest> digests;
        for (int key = from; key < to; ++key) {
            const std::string text = "key " + std::to_string(key);
            const digest d = digest_set(hash, width, {hash(text)}).elements()[0];
            texts[d] = text;
            digests.push_back(d);
        }
        set = digest_set(hash, width, digests);
    }
    key_owner owner() const {
        return {[this](const digest& d) { return texts.at(d); },
                [hash = set.hash()](std::string_view text) { return hash(text); }};
    }
};

}  // namespace posy::reconcile
