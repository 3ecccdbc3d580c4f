// What the C interfaces of all generated models share, in C99.
#ifndef FOVEA_C_H
#define FOVEA_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Grows when a function or a struct of the C interface changes so that callers must be compiled
// anew. NAME_c_version() is that of the library.
#define FOVEA_C_VERSION 1

// What functions return.
enum fovea_status {
    FOVEA_OK = 0,
    FOVEA_USER_ERROR = 2,     // a size, an id, a file, the memory: fovea_error() says which
    FOVEA_INTERNAL_ERROR = 3  // a mistake of fovea
};

// One sentence about the last call of this thread that did not return FOVEA_OK; "" before any. It
// stays until the next such call.
const char* fovea_error(void);

// Threads of the caller's. `run` calls task(work, index) once for each index below count, on
// threads of its own as it likes, and returns when all calls have returned. Those that have begun
// when the first one has waited a moment, 0.2 ms or less, do the work; they wait for each other
// between kernels. Those that begin later return at once.
typedef struct fovea_threads {
    int count;  // at most so many tasks a call
    void (*run)(void* context, int count, void (*task)(void* work, int index), void* work);
    void* context;
} fovea_threads;

enum fovea_optimizer_kind { FOVEA_ADAM = 0, FOVEA_ADAMW = 1, FOVEA_SGD = 2 };

// By PyTorch's formulas. fovea_default_optimizer() is Adam with PyTorch's numbers.
typedef struct fovea_optimizer {
    int kind;                      // enum fovea_optimizer_kind
    double beta1, beta2, epsilon;  // adam, adamw
    double momentum;               // sgd
    double weight_decay;
} fovea_optimizer;
fovea_optimizer fovea_default_optimizer(void);

// How one training step moves the parameters.
typedef struct fovea_step_rule {
    double learning_rate;
    double clip;            // the gradient's largest norm; 0: any
    double gradient_scale;  // multiplies the gradient; 0 is taken for 1
} fovea_step_rule;

typedef struct fovea_step_outcome {
    double gradient_norm;  // scaled, before clipping
    int moved;             // 0 where loss or gradient is not finite: no parameter has moved
} fovea_step_outcome;

#ifdef __cplusplus
}
#endif
#endif
