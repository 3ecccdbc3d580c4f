#include "codegen/reference/dim_sizes.h"

#include <string>

#include "codegen/base/error.h"
#include "codegen/base/text.h"

namespace fovea {

std::int64_t value_of(const DimSizes& sizes, const Dim& dim) {
    std::int64_t total = dim.constant();
    for (const DimTerm& term : dim.terms()) {
        if (!term.factor) continue;
        std::int64_t product = term.factor;
        for (Symbol symbol : term.symbols) {
            if (!symbol) continue;
            auto size = sizes.find(symbol);
            if (size == sizes.end()) {
                Text text;
                text << "the size of " << symbol << " is not known: give an input that has it";
                throw UserError(std::string(text.view()));
            }
            product *= size->second;
        }
        total += product;
    }
    return total;
}

std::int64_t size_among(const void* sizes, const Dim& dim) {
    return value_of(*static_cast<const DimSizes*>(sizes), dim);
}

}  // namespace fovea
