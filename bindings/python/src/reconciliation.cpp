// posy.Reconciliation: two machines find out what each lacks of the other's set.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <unordered_map>

#include "batch.hpp"
#include "classes.hpp"
#include "files.hpp"
#include "names.hpp"
#include "posy/reconcile/session.hpp"

namespace posy::python {
namespace {

using namespace nb::literals;

// A side's own keys, their elements under the session's hash, and the session. Keys are text; an object stays
// where it is, since the session refers to it.
class side {
  public:
    side(std::vector<std::string> keys, const reconcile::settings& how, bool asks)
        : keys_(std::move(keys)), how_(how), asks_(asks) {
        if (asks) begin(value_of(reconcile::fresh_hasher()));
    }
    side(const side&) = delete;
    side& operator=(const side&) = delete;

    std::optional<std::vector<std::byte>> send() { return session_ ? session_->send() : std::nullopt; }
    void receive(byte_view message) {
        if (!session_) {
            const auto body = body_of_bytes(message);
            const auto* const first = std::get_if<reconcile::envelope>(&body);
            if (!first) throw exception(error::invalid("this is a message, but none of a reconciliation"));
            check_done(check(first->hash()));
            begin(first->hash());
        }
        check_done(session_->receive(message));
    }
    std::size_t size() const { return keys_.size(); }
    bool done() const { return session_ && session_->done(); }
    const reconcile::outcome& found() const {
        if (!session_) throw exception(error::invalid("nothing has been received yet"));
        return session_->found();
    }
    const std::string& text_of(const digest& element) const { return keys_.at(places_.at(element)); }

  private:
    struct by_halves {
        std::size_t operator()(const digest& d) const { return d.low ^ d.high; }
    };

    void begin(const hasher& hash) {
        std::vector<digest> digests;
        digests.reserve(keys_.size());
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            const digest d = hash(std::string_view(keys_[i]));
            digests.push_back(d);
            places_.emplace(digest{d.low, 0}, i);  // elements are half digests
        }
        set_.emplace(hash, reconcile::digest_width::half, std::move(digests));
        reconcile::key_owner owner{[this](const digest& d) { return text_of(d); },
                                   [hash](std::string_view text) { return hash(text); }};
        session_.emplace(asks_ ? value_of(reconcile::session::ask(*set_, how_, std::move(owner)))
                               : reconcile::session::answer(*set_, how_, std::move(owner)));
    }

    std::vector<std::string> keys_;
    reconcile::settings how_;
    bool asks_;
    std::unordered_map<digest, std::size_t, by_halves> places_;
    std::optional<reconcile::digest_set> set_;
    std::optional<reconcile::session> session_;
};

struct side_object {
    side body;
    std::mutex lock;

    // Nothing here calls Python, so all work is done without the interpreter.
    template <class Work>
    auto alone(const Work& work) {
        const nb::gil_scoped_release released;
        const std::lock_guard held(lock);
        return work();
    }
};

std::vector<std::string> texts_of(nb::handle source) {
    std::vector<std::string> all;
    batch(source, false).each_key([&](auto key, std::size_t row) {
        if constexpr (std::same_as<decltype(key), std::string_view>)
            all.emplace_back(key);
        else
            raise(PyExc_TypeError, "sets of text are reconciled: write an int as str(key)" + at_index(row));
    });
    return all;
}

nb::list list_of(const std::vector<std::string>& keys) {
    nb::list all;
    for (const std::string& key : keys) {
        PyObject* const text = PyUnicode_DecodeUTF8(key.data(), static_cast<Py_ssize_t>(key.size()), nullptr);
        if (!text) PyErr_Clear();
        all.append(text ? nb::object(nb::steal(text)) : nb::object(nb::bytes(key.data(), key.size())));
    }
    return all;
}

void add_results(nb::class_<side_object>& type) {
    type.def_prop_ro(
        "done", [](side_object& o) { return o.alone([&] { return o.body.done(); }); },
        "Nothing more will be received. What send() still returns must be sent.");
    type.def_prop_ro(
        "only_here",
        [](side_object& o) {
            return list_of(o.alone([&] {
                std::vector<std::string> all;
                for (const digest& element : o.body.found().only_here) all.push_back(o.body.text_of(element));
                return all;
            }));
        },
        "The keys that the other side lacks, as far as this side has learned.");
    type.def_prop_ro(
        "only_there", [](side_object& o) { return list_of(o.alone([&] { return o.body.found().texts; })); },
        "The keys that this side lacks; with fetch=False only their number is known, missing.");
    type.def_prop_ro(
        "missing", [](side_object& o) { return o.alone([&] { return o.body.found().only_there.size(); }); },
        "How many keys this side lacks.");
    type.def_prop_ro(
        "traffic",
        [](side_object& o) {
            const auto found =
                o.alone([&] { return std::pair(o.body.found().finding, o.body.found().telling); });
            return nb::make_tuple(found.first.sent + found.second.sent,
                                  found.first.received + found.second.received);
        },
        nb::sig("def traffic(self) -> tuple[int, int]"), "Bytes sent and received.");
    type.def("__repr__", [](side_object& o) {
        const auto [keys, done] = o.alone([&] { return std::pair(o.body.size(), o.body.done()); });
        return nb::str("<posy.Reconciliation: {} keys, {}>").format(keys, done ? "done" : "not done");
    });
}

}  // namespace

void add_reconciliation(nb::module_& m) {
    nb::class_<side_object> type(
        m, "Reconciliation",
        "Two peers find out what each lacks of the other's set; the bytes sent depend on the difference, not "
        "on "
        "the sets. Messages are bytes, and alternate.\n\n"
        ">>> a = posy.Reconciliation([\"x\", \"y\"], asks=True)\n>>> b = posy.Reconciliation([\"y\", "
        "\"z\"])\n"
        ">>> while not (a.done and b.done):\n...     for sender, receiver in (a, b), (b, a):\n"
        "...         while (message := sender.send()) is not None:\n...             "
        "receiver.receive(message)\n"
        ">>> a.only_here, a.only_there\n(['x'], ['z'])\n");
    type.def(
        "__init__",
        [](side_object* self, nb::handle keys, bool asks, std::string_view method, double bits_per_item,
           bool fetch) {
            const reconcile::settings how{.method = member_named<reconcile::method>("method", method),
                                          .bits_per_item = bits_per_item,
                                          .fetch = fetch};
            new (self) side_object{.body = {texts_of(keys), how, asks}};
        },
        "keys"_a.none(), nb::kw_only(), "asks"_a = false, "method"_a = "exact", "bits_per_item"_a = 10.0,
        "fetch"_a = true);
    type.def(
        "send",
        [](side_object& o) -> nb::object {
            const auto message = o.alone([&] { return o.body.send(); });
            return message ? nb::object(bytes_of(*message)) : nb::none();
        },
        nb::sig("def send(self) -> bytes | None"), "The next message to send, if there is one now.");
    type.def(
        "receive",
        [](side_object& o, nb::handle message) {
            const held_bytes bytes(message);
            o.alone([&] { o.body.receive(bytes.view()); });
        },
        "message"_a, "Take a message of the other side.");
    add_results(type);
}

}  // namespace posy::python
