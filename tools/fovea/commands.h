// The subcommands. Each takes what follows its name, and gives the exit status.
#pragma once

#include <string>
#include <vector>

namespace fovea::tool {

int models_command(const std::vector<std::string>& arguments);
int show_command(const std::vector<std::string>& arguments);
int generate_command(const std::vector<std::string>& arguments);
int build_command(const std::vector<std::string>& arguments);
int run_command(const std::vector<std::string>& arguments);
int verify_command(const std::vector<std::string>& arguments);
int compare_command(const std::vector<std::string>& arguments);
int bench_command(const std::vector<std::string>& arguments);
int bundle_command(const std::vector<std::string>& arguments);
int fuzz_command(const std::vector<std::string>& arguments);

}  // namespace fovea::tool
