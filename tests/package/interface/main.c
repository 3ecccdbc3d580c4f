/* The C interface of generated headers: prints what is not as it should be. */
#include <stdio.h>
#include <string.h>

#include "constant.h"
#include "counting.h"
#include "texts.h"
#include "tokens.h"

static int mistakes = 0;

static void check(int holds, const char* what) {
    if (holds) return;
    printf("not so: %s (%s)\n", what, fovea_error());
    ++mistakes;
}

static const int32_t ids[6] = {0, 1, 2, 3, 4, 5};

static void tokens_are_trained_and_kept(void) {
    const tokens_sizes sizes = {11};
    const tokens_dims dims = {2, 3};
    const tokens_forward_inputs inputs = {ids};
    tokens_weights *weights, *read;
    tokens_session* session;
    tokens_trainer* trainer;
    float before, after, logits[66], own[66];
    tokens_forward_outputs outputs = {logits, &before};
    check(tokens_c_version() == FOVEA_C_VERSION, "the library is of this version");
    check(tokens_random(&sizes, 1, &weights) == FOVEA_OK, "weights are drawn");
    check(tokens_new_session(weights, 1, &session) == FOVEA_OK, "a session is made");
    check(tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_OK, "it runs");
    outputs.View_2 = own, outputs.loss = NULL;
    check(tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_OK, "null is not wanted");
    check(memcmp(logits, own, sizeof own) == 0, "with the same bits");
    const tokens_forward_inputs forgotten = {0};
    check(tokens_forward(session, &dims, &forgotten, &outputs) == FOVEA_USER_ERROR,
          "no input is forgotten");
    check(strcmp(fovea_error(),
                 "program 'forward' has input 'class' of [batch, step], which is [2, 3] here: that "
                 "has 6 elements, and 0 are given") == 0,
          "and said");
    tokens_session* other;
    check(tokens_new_session(weights, -3, &other) == FOVEA_USER_ERROR, "threads are counted");

    static char memory[100000];
    size_t workspace = 0, of_its_own = 0;
    check(tokens_forward_bytes(session, &dims, &workspace, &of_its_own) == FOVEA_OK && of_its_own > 0,
          "bytes are known before a call");
    check(tokens_use_workspace(session, memory, workspace) == FOVEA_OK, "memory is lent");
    check(tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_OK &&
              memcmp(logits, own, sizeof own) == 0,
          "and gives the same bits");
    check(tokens_use_workspace(session, memory, 1) == FOVEA_OK, "too little is lent");
    check(tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_USER_ERROR, "and refused");
    check(tokens_use_workspace(session, NULL, 0) == FOVEA_OK &&
              tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_OK,
          "it is taken back");

    fovea_optimizer optimizer = fovea_default_optimizer();
    const fovea_step_rule rule = {0.02, 0, 0};
    fovea_step_outcome outcome;
    tokens_training_step_inputs given = {ids};
    check(tokens_new_trainer(weights, &optimizer, 1, &trainer) == FOVEA_OK, "a trainer is made");
    for (int step = 0; step < 50; ++step)
        check(tokens_training_step(trainer, &dims, &given, NULL, &rule, 1, &outcome) == FOVEA_OK &&
                  outcome.moved,
              "a step moves the weights");
    outputs.View_2 = NULL, outputs.loss = &after;
    check(tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_OK && after < before / 2,
          "the session sees it");
    check(tokens_save(weights, "c.safetensors") == FOVEA_OK, "weights are saved");
    check(tokens_load("c.safetensors", &read) == FOVEA_OK, "and read");
    tokens_free_weights(weights);
    tokens_free_trainer(trainer);
    check(tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_OK, "a session keeps its weights");
    tokens_free_session(session);
    tokens_free_weights(read);
}

static void errors_are_codes(void) {
    const counting_dims wrong = {-1};
    const float x[3] = {1, 2, 3};
    const counting_forward_inputs inputs = {x};
    counting_weights* weights = NULL;
    counting_session* session = NULL;
    fovea_optimizer optimizer = fovea_default_optimizer();
    constant_weights* constants;
    check(counting_random(1, &weights) == FOVEA_OK, "weights are drawn");
    check(counting_new_session(NULL, 1, &session) == FOVEA_USER_ERROR, "null is refused");
    check(strcmp(fovea_error(), "weights is a null pointer") == 0, "and said");
    check(counting_new_session(weights, 1, &session) == FOVEA_OK, "a session is made");
    check(counting_forward(session, &wrong, &inputs, NULL) == FOVEA_USER_ERROR, "sizes are checked");
    check(strcmp(fovea_error(), "the size of 'batch' is negative: -1") == 0, "and said");
    check(counting_load("none", &weights) == FOVEA_USER_ERROR, "files are checked");
    check(constant_random(1, &constants) == FOVEA_OK, "weights are drawn");
    check(constant_set_parameter(constants, "weight", x, 3) == FOVEA_USER_ERROR, "and counted");
    check(constant_set_parameter(constants, "weight", NULL, 3) == FOVEA_USER_ERROR, "and there");
    optimizer.kind = 7;
    check(optimizer.epsilon > 0, "PyTorch's numbers");
    counting_free_session(session);
    counting_free_weights(weights);
    constant_free_weights(constants);
}

static void one_after_the_other(void* context, int count, void (*task)(void*, int), void* work) {
    for (int i = 0; i < count; ++i) task(work, i);
    ++*(int*)context;
}

static void no_task(void* context, int count, void (*task)(void*, int), void* work) {
    (void)context, (void)count, (void)task, (void)work;
}

static void threads_may_be_the_callers(void) {
    int calls = 0;
    const fovea_threads threads = {3, one_after_the_other, &calls}, none = {3, no_task, NULL},
                        zero = {0, one_after_the_other, &calls};
    const tokens_sizes sizes = {11};
    const tokens_dims dims = {2, 3};
    const tokens_forward_inputs inputs = {ids};
    const tokens_training_step_inputs given = {ids};
    const fovea_step_rule rule = {0.02, 0, 0};
    fovea_step_outcome outcome;
    float expected[66], logits[66];
    tokens_forward_outputs outputs = {expected, NULL};
    tokens_weights* weights;
    tokens_session* session;
    tokens_trainer* trainer;
    check(tokens_random(&sizes, 1, &weights) == FOVEA_OK, "weights are drawn");
    check(tokens_new_session(weights, 1, &session) == FOVEA_OK, "a session is made");
    check(tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_OK, "it runs");
    outputs.View_2 = logits;
    check(tokens_use_threads(session, &threads) == FOVEA_OK, "threads are given");
    check(tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_OK && calls == 1 &&
              memcmp(logits, expected, sizeof logits) == 0,
          "a call runs on them, with the same bits");
    check(tokens_use_threads(session, &zero) == FOVEA_USER_ERROR, "none are refused");
    check(tokens_use_threads(session, &none) == FOVEA_OK, "some that do nothing");
    check(tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_USER_ERROR &&
              strcmp(fovea_error(), "parallel_for returned, but has called no task") == 0,
          "are found out");
    check(tokens_use_threads(session, NULL) == FOVEA_OK &&
              tokens_forward(session, &dims, &inputs, &outputs) == FOVEA_OK && calls == 1,
          "they are taken back");
    check(tokens_new_trainer(weights, NULL, 1, &trainer) == FOVEA_OK, "a trainer is made");
    check(tokens_trainer_use_threads(trainer, &threads) == FOVEA_OK, "threads are given");
    check(tokens_training_step(trainer, &dims, &given, NULL, &rule, 1, &outcome) == FOVEA_OK &&
              outcome.moved && calls == 2,
          "a step runs on them");
    tokens_free_trainer(trainer);
    tokens_free_session(session);
    tokens_free_weights(weights);
}

static void states_stay_in_a_session(void) {
    const counting_dims dims = {1};
    const float x[3] = {1, 2, 3};
    const counting_forward_inputs inputs = {x};
    counting_weights* weights;
    counting_session* session;
    float sum[3];
    const counting_forward_outputs outputs = {sum, NULL};
    check(counting_random(1, &weights) == FOVEA_OK, "weights are drawn");
    check(counting_new_session(weights, 0, &session) == FOVEA_OK, "a session is made");
    counting_forward(session, &dims, &inputs, &outputs);
    counting_forward(session, &dims, &inputs, &outputs);
    check(sum[2] == 6, "a session keeps its states");
    check(counting_reset(session) == FOVEA_OK, "they are reset");
    counting_forward(session, &dims, &inputs, &outputs);
    check(sum[2] == 3, "to zeros");
    counting_free_session(session);
    counting_free_weights(weights);
}

static void texts_go_on_from_a_prompt(void) {
    const int32_t text[3] = {3, 1, 4}, position = 2;
    const texts_dims dims = {.batch = 1, .len = 3, .steps = 3},
                     shorter = {.batch = 1, .len = 2, .steps = 3};
    const texts_forward_inputs whole_text = {text};
    const texts_prefill_inputs prompt = {text};
    const texts_decode_step_inputs last = {.position = &position, .ids = text + 2};
    float whole[60], of_prompt[20], of_last[20];
    const texts_forward_outputs all = {whole};
    const texts_prefill_outputs read = {of_prompt};
    const texts_decode_step_outputs next = {of_last};
    texts_weights* weights;
    texts_session* session;
    check(texts_random(1, &weights) == FOVEA_OK, "weights are drawn");
    check(texts_new_session(weights, 1, &session) == FOVEA_OK, "a session is made");
    check(texts_decode_step(session, &dims, &last, &next) == FOVEA_USER_ERROR, "without a prompt");
    check(texts_forward(session, &dims, &whole_text, &all) == FOVEA_OK, "a text is read");
    check(texts_prefill(session, &shorter, &prompt, &read) == FOVEA_OK, "a prompt is read");
    check(texts_decode_step(session, &dims, &last, &next) == FOVEA_OK, "it goes on");
    for (int i = 0; i < 20; ++i) {
        check(of_prompt[i] - whole[20 + i] < 1e-5F && whole[20 + i] - of_prompt[i] < 1e-5F,
              "the prompt's logits");
        check(of_last[i] - whole[40 + i] < 1e-5F && whole[40 + i] - of_last[i] < 1e-5F,
              "those of the step");
    }
    texts_free_session(session);
    texts_free_weights(weights);
}

int main(void) {
    tokens_are_trained_and_kept();
    errors_are_codes();
    threads_may_be_the_callers();
    states_stay_in_a_session();
    texts_go_on_from_a_prompt();
    return mistakes;
}
