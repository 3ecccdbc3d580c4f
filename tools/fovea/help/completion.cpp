// Candidates come from the declared options alone; the scripts hold no list.
#include "tools/fovea/help/completion.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "codegen/base/error.h"
#include "codegen/kernel/print.h"
#include "tools/fovea/help/options_list.h"
#include "tools/fovea/model/known_models.h"
#include "tools/fovea/model/load_model.h"
#include "tools/fovea/programs.h"

namespace fovea::tool {

namespace {

constexpr const char* kBash =
    R"(# Completion of fovea's command lines in bash: the command itself says what may follow.
_fovea() {
    local line=${COMP_LINE:0:COMP_POINT} word kept
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    mapfile -t COMPREPLY < <("${1/#\~/$HOME}" help --complete -- "${words[@]:1}" 2> /dev/null)
    COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
    # Of a word with = or : in it, what follows the last of them is replaced.
    word=${words[-1]}
    kept=${word%"${word##*[=:]}"}
    COMPREPLY=("${COMPREPLY[@]#"$kept"}")
    if [[ ${COMPREPLY-} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _fovea fovea
)";

constexpr const char* kZsh = R"(#compdef fovea
# Completion of fovea's command lines in zsh: the command itself says what may follow.
_fovea() {
    local line
    local -a found open closed
    found=("${(@f)$(${(Q)words[1]} help --complete -- "${(@Q)words[2,CURRENT]}" 2> /dev/null)}")
    for line in "${(@)found}"; do
        [[ -z $line ]] && continue
        local word=${line%%$'\t'*} what=${line#*$'\t'}
        [[ $line == *$'\t'* ]] || what=
        word=${word//:/\\:}${what:+:$what}
        if [[ ${line%%$'\t'*} == *= ]]; then open+=("$word"); else closed+=("$word"); fi
    done
    if (( ! $#open && ! $#closed )); then _files; return; fi
    (( $#closed )) && _describe fovea closed
    (( $#open )) && _describe fovea open -S ''
}
if [[ $funcstack[1] == _fovea ]]; then _fovea "$@"; else compdef _fovea fovea; fi
)";

bool begins(const std::string& word, const std::string& start) { return word.starts_with(start); }

/// The option of `show` that names a program.
constexpr const char* kProgramOption = "program";

/// The first line, up to its first clause: lists have one line for each word.
std::string in_short(const std::string& help) { return help.substr(0, help.find_first_of("\n;")); }

/// The words of `cpu|ptx` or `avx2,baseline|native`; none where a file, a number or a name stands.
std::vector<std::string> choices_in(const std::string& value) {
    std::vector<std::string> words;
    if (value.find('|') == value.npos) return words;
    for (std::size_t start = 0; start <= value.size();) {
        const std::size_t end = std::min(value.find_first_of("|,", start), value.size());
        words.push_back(value.substr(start, end - start));
        start = end + 1;
    }
    const auto is_word = [](const std::string& word) {
        return std::ranges::none_of(word, [](unsigned char c) { return std::isupper(c) != 0; });
    };
    return std::ranges::all_of(words, is_word) ? words : std::vector<std::string>{};
}

std::vector<Candidate> as_candidates(const std::vector<std::string>& words) {
    std::vector<Candidate> list;
    for (const std::string& word : words) list.push_back({word, ""});
    return list;
}

/// The symbolic sizes of inputs and parameters, in their order.
std::vector<std::string> symbols_of_inputs(const Graph& graph) {
    std::vector<std::string> names;
    for (const Node& node : graph.nodes) {
        if (node.op != Op::input && node.op != Op::parameter) continue;
        for (std::size_t axis = 0; axis < std::size_t(node.shape.rank()); ++axis)
            for (const DimTerm& term : node.shape[axis].terms())
                for (const Symbol symbol : term.symbols) {
                    if (!symbol) continue;
                    std::string name = kernel::text_of(Dim(detail::text_of(symbol)));
                    if (std::ranges::find(names, name) == names.end())
                        names.push_back(std::move(name));
                }
    }
    return names;
}

/// A command line of a subcommand, up to the word that is completed.
class Line {
  public:
    Line(const Command& command, const std::vector<std::string>& words)
        : usage_(command.usage), options_(options_of(command)), words_(words) {}

    std::vector<Candidate> last_word() const {
        const std::string& word = words_.back();
        if (const OptionText* option = option_before(words_.size() - 1)) return values_of(*option);
        if (const std::size_t equals = word.find('='); begins(word, "--") && equals != word.npos) {
            const OptionText* option = find(word.substr(0, equals));
            std::vector<Candidate> values = option ? values_of(*option) : std::vector<Candidate>{};
            for (Candidate& value : values) value.word.insert(0, word.substr(0, equals + 1));
            return values;
        }
        return begins(word, "-") ? option_names() : positional();
    }

  private:
    const OptionText* find(const std::string& dashed) const {
        for (const OptionText& option : options_)
            if (dashed == "--" + option.name ||
                (option.short_name && dashed == std::string{'-', option.short_name}))
                return &option;
        return nullptr;
    }

    /// The option whose value word `i` is.
    const OptionText* option_before(std::size_t i) const {
        if (i == 0) return nullptr;
        const OptionText* option = find(words_[i - 1]);
        return option && !option->value.empty() ? option : nullptr;
    }

    std::vector<Candidate> option_names() const {
        std::vector<Candidate> list;
        for (const OptionText& option : options_)
            list.push_back({"--" + option.name, in_short(option.help)});
        return list;
    }

    std::vector<Candidate> positional() const {
        std::vector<Candidate> list;
        if (begins(usage_.positional, "MODEL"))
            for (const ModelEntry& entry : known_models())
                list.push_back({entry.name, entry.source});
        if (usage_.positional == kCommandArgument)
            for (const auto make : commands()) {
                const Usage usage = make().usage;
                list.push_back({usage.command, usage.brief});
            }
        return list;
    }

    std::vector<Candidate> values_of(const OptionText& option) const {
        if (option.name == kSetOption) return settings();
        if (begins(option.value, "DIM=")) return dims();
        if (option.name == kProgramOption) return programs();
        return as_candidates(choices_in(option.value));
    }

    /// `batch=`, of the built-in model on the line.
    std::vector<Candidate> dims() const {
        std::vector<Candidate> list;
        if (const std::optional<LoadedModel> model = model_on_line())
            for (const std::string& name : symbols_of_inputs(model->graph))
                list.push_back({name + "=", ""});
        return list;
    }
    std::vector<Candidate> programs() const {
        std::vector<Candidate> list;
        if (const std::optional<LoadedModel> model = model_on_line())
            for (const ProgramRequest& program : all_programs(*model, Fusion()))
                list.push_back({program.name, ""});
        return list;
    }
    /// With the settings that stand before the word; nothing where they don't fit.
    std::optional<LoadedModel> model_on_line() const {
        const ModelEntry* entry = entry_on_line();
        if (!entry) return std::nullopt;
        SettingValues settings;
        for (std::size_t i = 1; i + 1 < words_.size(); ++i) {
            const std::size_t equals = words_[i].find('=');
            const OptionText* option = option_before(i);
            if (option && option->name == kSetOption && equals != std::string::npos)
                settings.emplace_back(words_[i].substr(0, equals), words_[i].substr(equals + 1));
        }
        try {
            return load_model(entry->name, settings);
        } catch (const UserError&) {
            return std::nullopt;
        }
    }

    /// `hidden=`, of the built-in model on the line; behind the `=` its values where they are few.
    std::vector<Candidate> settings() const {
        std::vector<Candidate> list;
        for (const SettingSpec& spec : settings_on_line()) {
            list.push_back({spec.name + "=", spec.kind});
            for (const std::string& value : choices_in(spec.kind))
                if (words_.back().find(spec.name + "=") != std::string::npos)
                    list.push_back({spec.name + "=" + value, ""});
        }
        return list;
    }

    const ModelEntry* entry_on_line() const {
        for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
            const ModelEntry* entry = option_before(i) ? nullptr : find_known_model(words_[i]);
            if (entry) return entry;
        }
        return nullptr;
    }
    std::vector<SettingSpec> settings_on_line() const {
        const ModelEntry* entry = entry_on_line();
        return entry ? settings_with_dtype(*entry) : std::vector<SettingSpec>{};
    }

    Usage usage_;
    std::vector<OptionText> options_;
    std::vector<std::string> words_;
};

std::vector<Candidate> first_words() {
    std::vector<Candidate> list;
    for (const auto make : commands()) {
        const Usage usage = make().usage;
        list.push_back({usage.command, usage.brief});
    }
    list.push_back({"--help", "list the subcommands"});
    list.push_back({"--version", "say what this is"});
    return list;
}

std::vector<Candidate> all_completions(const std::vector<std::string>& words) {
    if (words.size() <= 1) return first_words();
    for (const auto make : commands())
        if (const Command command = make(); command.usage.command == words[0])
            return Line(command, {words.begin() + 1, words.end()}).last_word();
    return {};
}

}  // namespace

std::vector<Candidate> completions(const std::vector<std::string>& words) {
    std::vector<Candidate> list = all_completions(words);
    const std::string word = words.empty() ? "" : words.back();
    std::erase_if(list, [&](const Candidate& candidate) {
        return !begins(candidate.word, word) || (candidate.word == word && word.ends_with('='));
    });
    return list;
}

std::vector<std::string> completed_shells() { return {"bash", "zsh"}; }

std::string completion_script(const std::string& shell) { return shell == "zsh" ? kZsh : kBash; }

}  // namespace fovea::tool
