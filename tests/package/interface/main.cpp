// The C++ interface of generated headers: prints what is not as it should be.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "constant.h"
#include "counting.h"
#include "fovea/parallel/callers_threads.h"
#include "texts.h"
#include "tokens.h"
using namespace fovea;

namespace {

int mistakes = 0;
volatile long allocations = 0;

void check(bool holds, const char* what) {
    if (holds) return;
    std::printf("not so: %s\n", what);
    ++mistakes;
}

template <class Call>
std::string error_of(Call&& call) {
    try {
        call();
    } catch (const runtime::UserError& error) {
        return error.what();
    }
    return "none";
}

std::vector<float> copied(const auto& values) { return {values.begin(), values.end()}; }

const std::vector<int> kIds = {0, 1, 2, 3, 4, 5};

void threads_give_the_bits_of_one() {
    const auto model = tokens::Model::random({.vocabulary = 11}, 1);
    tokens::Session one(model);
    const std::vector<float> expected = copied(one.forward({2, 3}, {.class_2 = kIds}).View_2);
    std::vector<int> same(16);
    std::vector<std::thread> threads;
    for (int& is_same : same)
        threads.emplace_back([&] {
            tokens::Session own(model, {.threads = 1});
            is_same = 1;
            for (int i = 0; i < 50; ++i)
                is_same &= copied(own.forward({2, 3}, {.class_2 = kIds}).View_2) == expected;
        });
    for (std::thread& thread : threads) thread.join();
    check(std::ranges::count(same, 1) == 16, "16 sessions on 16 threads give the bits of one");
}

/// A thread for each task.
void on_threads_of_its_own(int count, const std::function<void(int)>& task) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) threads.emplace_back(task, i);
    for (std::thread& thread : threads) thread.join();
}

void threads_may_be_the_callers() {
    int calls = 0;
    const auto parallel_for = [&](int count, const std::function<void(int)>& task) {
        ++calls;
        on_threads_of_its_own(count, task);
    };
    const auto model = tokens::Model::random({.vocabulary = 11}, 1);
    tokens::Session one(model, {.threads = 1});
    fovea::runtime::CallersThreads threads(3, parallel_for);
    tokens::Session session(model, {.run_on = &threads});
    const std::vector<float> expected = copied(one.forward({2, 3}, {.class_2 = kIds}).View_2);
    for (int i = 0; i < 20; ++i)
        check(copied(session.forward({2, 3}, {.class_2 = kIds}).View_2) == expected,
              "the caller's threads give the bits of one");
    check(calls == 20, "a call asks for them once");
    const auto trained = [&](const runtime::SessionOptions& options) {
        auto own = tokens::Model::random({.vocabulary = 11}, 1);
        tokens::Trainer trainer(own, {}, options);
        for (int i = 0; i < 5; ++i)
            trainer.step({2, 3}, {.class_2 = kIds}, {.learning_rate = 0.02}, 1);
        return tokens::Session(own).forward({2, 3}, {.class_2 = kIds}).loss;
    };
    check(trained({.threads = 1}) == trained({.run_on = &threads}), "and train as one does");
    check(calls == 25, "a step asks for them once");
}

void outputs_lie_where_the_caller_says() {
    tokens::Session session(tokens::Model::random({.vocabulary = 11}, 1));
    const auto own = session.forward({2, 3}, {.class_2 = kIds});
    check(own.View_2.shape() == std::array<std::int64_t, 3>{2, 3, 11}, "a view has its shape");
    check(&own.View_2(1, 2, 10) == own.View_2.data() + 65, "the last axis is the fastest");
    const std::vector<float> expected = copied(own.View_2);
    std::vector<float> memory(1 + 66);  // at a place that no vector likes
    const auto given = session.forward({2, 3}, {.class_2 = kIds}, {.View_2 = memory.data() + 1});
    check(given.View_2.data() == memory.data() + 1, "a view is of the caller's memory");
    check(std::equal(expected.begin(), expected.end(), memory.begin() + 1), "with the same bits");
    const auto again = session.forward({2, 3}, {.class_2 = kIds});
    check(again.View_2.data() == own.View_2.data(), "then of the session's own");
    check(session.forward({0, 3}, {}).View_2.size() == 0, "a batch may be empty");
}

void memory_is_known_and_may_be_the_callers() {
    const auto model = tokens::Model::random({.vocabulary = 11}, 1);
    tokens::Session own(model);
    const auto bytes = own.forward_bytes({2, 3});
    check(bytes.workspace > 0 && bytes.owned >= 66 * sizeof(float),
          "bytes are known before a call");
    check(own.forward_bytes({4, 30}).workspace > bytes.workspace, "more for larger sizes");
    check(error_of([&] { own.forward_bytes({2, -3}); }) == "the size of 'step' is negative: -3",
          "and refused for sizes that there are not");
    const std::vector<float> expected = copied(own.forward({2, 3}, {.class_2 = kIds}).View_2);
    std::vector<std::byte> memory(bytes.workspace + 1, std::byte{0x7f});
    const std::span lent = std::span(memory).subspan(1);  // at a place that no vector likes
    tokens::Session one(model, {.threads = 1, .workspace = lent});
    tokens::Session two(model, {.threads = 2, .workspace = lent});
    tokens::Trainer trainer(model, {}, {.workspace = lent});
    for (tokens::Session* session : {&one, &two, &one})
        check(copied(session->forward({2, 3}, {.class_2 = kIds}).View_2) == expected,
              "sessions share a workspace");
    check(std::ranges::count(memory, std::byte{0x7f}) < std::ptrdiff_t(memory.size()),
          "which is the caller's");
    check(
        error_of([&] { one.forward({40, 3}, {}); }).starts_with("these sizes take a workspace of "),
        "sizes that take more are refused");
    check(copied(one.forward({2, 3}, {.class_2 = kIds}).View_2) == expected, "others go on");
    check(trainer.step_bytes({2, 3}).workspace > 0, "those of a step are known, too");
}

void errors_are_sentences() {
    tokens::Session session(tokens::Model::random({.vocabulary = 11}, 1));
    check(error_of([&] { session.forward({2, 4}, {.class_2 = kIds}); }) ==
              "program 'forward' has input 'class' of [batch, step], which is [2, 4] here: that "
              "has 8 elements, and 6 are given",
          "a wrong number of elements is refused");
    check(error_of([&] { session.forward({-2, -3}, {.class_2 = kIds}); }) ==
              "the size of 'batch' is negative: -2",
          "a negative size is refused");
    const std::vector<int> wrong = {0, 1, 11};
    check(error_of([&] { session.forward({1, 3}, {.class_2 = wrong}); }).find("11") !=
              std::string::npos,
          "an id out of range is refused");
    check(error_of([&] { tokens::Model::load("no.safetensors"); }) ==
              "cannot read 'no.safetensors': No such file or directory",
          "a file that is not there is refused");
    check(error_of([&] { tokens::Model::random({.vocabulary = 2}, 1).parameter("none"); }) ==
              "tokens has no parameter 'none'",
          "a parameter that there is not is refused");
    check(session.forward({2, 3}, {.class_2 = kIds}).loss > 0, "a session goes on after errors");
}

void files_have_the_sizes() {
    const auto model = tokens::Model::random({.vocabulary = 11}, 3);
    model.save("tokens.safetensors");
    const auto read = tokens::Model::load("tokens.safetensors");
    check(read.parameter_shape("table.weight") == std::vector<std::int64_t>{11, 16},
          "sizes are those of the file");
    check(read.parameter_count() == 11 * 16 + 11 * 16 + 11, "parameters are counted");
    check(tokens::Session(read).forward({2, 3}, {.class_2 = kIds}).loss ==
              tokens::Session(model).forward({2, 3}, {.class_2 = kIds}).loss,
          "a model that was saved and read gives the same bits");
}

void states_stay_in_a_session() {
    counting::Session session(counting::Model::random(1)), other(counting::Model::random(1));
    const std::vector<float> x = {1, 2, 3};
    session.forward({1}, {.x = x});
    const auto second = session.forward({1}, {.x = x});
    check(copied(second.sum_of_all) == std::vector<float>{2, 4, 6}, "a session keeps its states");
    check(copied(second.of_rows) == std::vector<float>{6}, "a row is a span");
    check(copied(other.forward({1}, {.x = x}).sum_of_all) == x, "each session has its own");
    session.reset();
    check(copied(session.forward({1}, {.x = x}).sum_of_all) == x, "until they are reset");
    std::vector<counting::Session> sessions;
    sessions.push_back(std::move(session));
    check(copied(sessions[0].forward({1}, {.x = x}).sum_of_all) == std::vector<float>{2, 4, 6},
          "a session that is moved keeps them");
}

/// Columns [first, first + count) of two texts of seven tokens, [2, count].
std::vector<int> some_tokens(int first, int count) {
    const std::vector<int> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7};
    std::vector<int> some;
    for (int text = 0; text < 2; ++text)
        some.insert(some.end(), ids.begin() + text * 7 + first,
                    ids.begin() + text * 7 + first + count);
    return some;
}

/// How far logits [2, 1, 20] are off those of `position` in [2, 7, 20].
float most_off(texts::View<const float, 3> logits, const std::vector<float>& whole, int position) {
    float off = 0;
    for (int text = 0; text < 2; ++text)
        for (int word = 0; word < 20; ++word)
            off = std::max(off, std::abs(logits(text, 0, word) -
                                         whole[std::size_t((text * 7 + position) * 20 + word)]));
    return off;
}

void texts_go_on_from_a_prompt() {
    texts::Session session(texts::Model::random(1));
    const std::vector<int> all = some_tokens(0, 7);
    const std::vector<float> whole = copied(session.forward({.batch = 2, .len = 7}, {all}).logits);
    const auto step = [&](int position, int steps) {
        const std::vector<int> ids = some_tokens(position, 1), positions(2, position);
        return session.decode_step({.batch = 2, .len = 1, .steps = steps},
                                   {.position = positions, .ids = ids});
    };
    const std::string refused =
        "program 'decode_step' goes on from what 'prefill' has read: call that before, with the "
        "same sizes";
    check(error_of([&] { step(0, 7); }) == refused, "a step needs a prompt");
    for (const int prompt : {1, 4}) {
        const std::vector<int> ids = some_tokens(0, prompt);
        const auto read = session.prefill({.batch = 2, .len = prompt, .steps = 7}, {ids});
        check(most_off(read.logits, whole, prompt - 1) < 1e-5F, "a prompt is read at once");
        for (int position = prompt; position < 7; ++position)
            check(most_off(step(position, 7).logits, whole, position) < 1e-5F,
                  "steps give the logits of the whole text");
    }
    check(error_of([&] {
              session.prefill({.batch = 2, .len = 7, .steps = 5}, {all});
          }).ends_with(", in program 'prefill', batch=2, len=7, steps=5"),
          "a prompt has room");
    check(error_of([&] { step(5, 5); }) == refused, "a prompt that was refused begins nothing");
    check(error_of([&] { step(5, 9); }) == refused, "a step has the sizes of its prompt");
    check(error_of([&] { step(5, 7); }) == refused, "what was lost is not gone on from");
    const std::vector<int> one = some_tokens(0, 1);
    session.prefill({.batch = 2, .len = 1, .steps = 9}, {one});
    texts::Session moved = std::move(session);
    check(error_of([&] { session.prefill({.batch = 2, .len = 1, .steps = 9}, {one}); }) ==
              "a session is called that was moved to another",
          "from which it was moved is none");
    session = texts::Session(texts::Model::random(2));
    const std::vector<int> next = some_tokens(1, 1), second = {1, 1};
    check(
        most_off(
            moved.decode_step({.batch = 2, .len = 1, .steps = 9}, {.position = second, .ids = next})
                .logits,
            whole, 1) < 1e-5F,
        "a session that is moved goes on");
    moved.reset();
    check(error_of([&] {
              moved.decode_step({.batch = 2, .len = 1, .steps = 9},
                                {.position = second, .ids = next});
          }) == refused,
          "until it is reset");
}

void training_moves_the_model() {
    auto moved = tokens::Model::random({.vocabulary = 6}, 1);
    const auto model = std::move(moved);
    check(moved.parameters() == model.parameters(), "a model that is moved stays one");
    tokens::Session session(model);
    const float before = session.forward({2, 3}, {.class_2 = kIds}).loss;
    tokens::Trainer trainer(model, {.kind = runtime::OptimizerKind::adamw});
    for (int step = 0; step < 50; ++step) {
        const auto made = trainer.step({2, 3}, {.class_2 = kIds}, {.learning_rate = 0.02}, 1);
        check(made.outcome.moved && made.loss > 0, "a step moves the parameters");
    }
    check(trainer.optimizer().step() == 50, "steps are counted");
    check(session.forward({2, 3}, {.class_2 = kIds}).loss < before / 2, "sessions see it");
    const auto drawn = [&](std::uint64_t seed) {
        tokens::Trainer still(model);
        return still.step({2, 3}, {.class_2 = kIds}, {.learning_rate = 0}, seed).loss;
    };
    check(error_of([&] { tokens::Trainer(model, {.beta1 = -5}); }) ==
              "beta1 should be from 0 on and below 1, but is -5",
          "settings of an optimizer have ranges");
    check(error_of([&] {
              trainer.step({2, 3}, {.class_2 = kIds}, {.learning_rate = std::nan("")}, 1);
          }) == "learning_rate should be a finite number, not below 0, but is nan",
          "so has the rule of a step");
    check(drawn(1) == drawn(1) && drawn(1) != drawn(2), "dropout is drawn from the seed");
}

void parameters_are_read_and_written() {
    auto model = constant::Model::random(1);
    constant::Session session(model);
    check(copied(session.forward().y) == std::vector<float>(6, 2), "a call may give nothing");
    const std::vector<float> weight = {1, 2, 3, 4, 5, 6};
    model.set_parameter("weight", weight);
    check(session.forward().y(1, 2) == 12, "sessions see what is written");
    check(error_of([&] { model.set_parameter("weight", {weight.data(), 5}); }) ==
              "parameter 'weight' has 6 values, and 5 are given for it",
          "a wrong number of values is refused");
}

/// After two calls of its sizes a call asks neither the system nor the heap for anything: in a
/// process that may do nothing but read, write and end, where the system can make such a one.
void calls_need_nothing_of_the_system() {
    const auto model = tokens::Model::random({.vocabulary = 11}, 1);
    tokens::Session session(model, {.threads = 1});
    std::vector<float> memory(66);
    const auto call = [&] {
        session.forward({2, 3}, {.class_2 = kIds}, {.View_2 = memory.data()});
    };
    const pid_t child = fork();
    if (child == 0) {
        call();
        call();
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) syscall(SYS_exit, 2);
        allocations = 0;
        for (int i = 0; i < 100; ++i) call();
        syscall(SYS_exit, allocations == 0 ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    check(WIFEXITED(status), "a call makes no system call");
    check(WIFEXITED(status) && WEXITSTATUS(status) != 1, "a call allocates nothing");
}

void several_threads_allocate_nothing() {
    const auto allocated = [](tokens::Session& session) {
        const auto call = [&] { session.forward({2, 3}, {.class_2 = kIds}); };
        call();
        call();
        const long before = allocations;
        for (int i = 0; i < 100; ++i) call();
        return allocations - before;
    };
    const auto model = tokens::Model::random({.vocabulary = 11}, 1);
    tokens::Session own(model, {.threads = 2});
    check(allocated(own) == 0, "a call on two threads allocates nothing");
    runtime::CallersThreads threads(2, [](int count, const std::function<void(int)>& task) {
        for (int i = 0; i < count; ++i) task(i);
    });
    tokens::Session on_callers(model, {.run_on = &threads});
    check(allocated(on_callers) == 0, "nor on threads of the caller's");
}

}  // namespace

extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* malloc(std::size_t bytes) {
    allocations = allocations + 1;
    return __libc_malloc(bytes);
}

int main() {
    calls_need_nothing_of_the_system();
    several_threads_allocate_nothing();
    threads_give_the_bits_of_one();
    threads_may_be_the_callers();
    outputs_lie_where_the_caller_says();
    memory_is_known_and_may_be_the_callers();
    errors_are_sentences();
    files_have_the_sizes();
    states_stay_in_a_session();
    texts_go_on_from_a_prompt();
    training_moves_the_model();
    parameters_are_read_and_written();
    return mistakes;
}
