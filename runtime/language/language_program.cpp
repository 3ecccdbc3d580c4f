// The main function of a built program that goes on with texts.
#include "../error.h"
#include "../files/lost_pages.h"
#include "../main.h"
#include "../runner/program_version.h"
#include "../runner/runner_main.h"
#include "adapter.h"
#include "generate_command.h"
#include "merge_command.h"
#include "score_command.h"
#include "token_decoder.h"
#include "training/train_text_command.h"

namespace fovea::runtime {

int language_program(int argc, char** argv, const char* name, ModelFunction model,
                     const char* written_by, const char* compiled_by) {
    static constexpr RunnerCommand kTextCommands[] = {
        {"train", "train it on texts, and write the weights", train_text_command},
        {"generate", "go on with a text, token by token", generate_command},
        {"score", "say how likely a text is", score_command},
        {"merge", "take the pairs of an adapter into the weights", merge_command}};
    static constexpr RunnerCommand kAnswerCommands[] = {
        {"generate", "answer a text, token by token", generate_command},
        {"merge", "take the pairs of an adapter into the weights", merge_command}};
    report_lost_pages(argc > 0 ? argv[0] : name);
    return report_errors(argc > 0 ? argv[0] : name, [&] {
        if (asks_for_version(argc, argv)) return print_version(model(), written_by, compiled_by);
        std::span<const RunnerCommand> commands = kTextCommands;
        if (TokenDecoder::has_source(model())) commands = kAnswerCommands;
        // The last is for pairs.
        if (!has_pairs(model())) commands = commands.first(commands.size() - 1);
        return runner_main(argc, argv, model(), commands);
    });
}

}  // namespace fovea::runtime
