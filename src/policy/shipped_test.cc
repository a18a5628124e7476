// What is shipped in manifests/: that it parses, compiles and means what design.md says.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/path.h"
#include "policy/config.h"
#include "policy/pattern.h"
#include "policy/rule_match.h"

namespace bulkhead {
namespace {

class ShippedTest : public ::testing::Test {
 protected:
  static const Shipped& shipped() {
    static const Shipped kShipped = [] {
      Places places = find_places().value();
      places.config = "/nonexistent";
      places.organisation = "/nonexistent/policy.json";
      auto loaded = load_shipped(places);
      if (!loaded.ok()) ADD_FAILURE() << to_string(loaded.error());
      return std::move(loaded).value();
    }();
    return kShipped;
  }
  // A run without a manifest, of a project in a made-up home folder.
  static PolicyInputs inputs() {
    PolicyInputs result;
    result.baseline = shipped().baseline;
    result.sets = shipped().sets;
    result.blocklists = shipped().blocklists;
    result.variables.workspace = {"/home/me/project"};
    result.variables.extension = "/home/me/project/node_modules/tool";
    result.variables.home = "/home/me";
    result.variables.config = "/home/me/.config/bulkhead";
    result.variables.state = "/home/me/.local/state/bulkhead";
    result.variables.storage = "/home/me/.local/state/bulkhead/storage/tool";
    result.variables.runtime = "/run/user/1000";
    result.variables.bulkhead = {"/home/me/bulkhead/vscode", "/opt/bin/bulkhead"};
    result.scratch = {"/tmp", "/dev/shm"};
    result.search_path = {"/usr/bin", "/bin"};
    return result;
  }
  static std::shared_ptr<const Policy> compile(const PolicyInputs& inputs) {
    auto policy = Policy::compile(inputs);
    if (!policy.ok()) ADD_FAILURE() << to_string(policy.error());
    return policy.ok() ? policy.value() : nullptr;
  }
  static PolicyInputs everything_granted() {
    PolicyInputs all = inputs();
    all.manifest.files.read = {Entry{"/", {}}};
    all.manifest.files.write = {Entry{"/", {}}};
    all.scratch.clear();
    return all;
  }
};

TEST_F(ShippedTest, BaselineGrantsTheProjectAndTheSystemAndNothingElse) {
  const auto policy = compile(inputs());
  ASSERT_TRUE(policy);
  const auto verdict = [&](Kind kind, const char* path) {
    return policy->decide_path(kind, path).verdict == Verdict::kAllow;
  };
  for (const char* path : {"/home/me/project/src/a.js",
                           "/usr/lib/libc.so.6",
                           "/etc/ld.so.cache",
                           "/etc/passwd",
                           "/etc/hosts",
                           "/etc/resolv.conf",
                           "/etc/nsswitch.conf",
                           "/etc/ssl/certs/ca.pem",
                           "/dev/null",
                           "/dev/urandom",
                           "/proc/cpuinfo",
                           "/proc/meminfo",
                           "/proc/42/status",
                           "/proc/42/maps",
                           "/proc/42/fd/3",
                           "/proc/42/task/43/stat",
                           "/dev",
                           "/proc",
                           "/proc/self",
                           "/etc/gitconfig",
                           "/proc/sys/kernel/osrelease",
                           "/sys/devices/system/cpu/online",
                           "/sys/fs/cgroup/user.slice/memory.max",
                           "/home/me/.nvm/versions/node/v20/bin/node",
                           "/tmp/x",
                           "/etc/localtime",
                           "/home/me/.local/state/bulkhead/storage/tool/a"})
    EXPECT_TRUE(verdict(Kind::kRead, path)) << path;
  for (const char* path : {"/home/me",
                           "/home/me/notes.txt",
                           "/home/me/.ssh/id_rsa",
                           "/home/me/.gitconfig",
                           "/etc",
                           "/etc/shadow",
                           "/etc/machine-id",
                           "/etc/environment",
                           "/root/x",
                           "/var/log/syslog",
                           "/proc/sys",
                           "/proc/1/environ",
                           "/proc/42/mem",
                           "/proc/kcore",
                           "/proc/kallsyms",
                           "/proc/keys",
                           "/proc/interrupts",
                           "/proc/sys/net/ipv4/conf",
                           "/sys",
                           "/dev/sda",
                           "/dev/mem",
                           "/dev/kmsg",
                           "/run/docker.sock",
                           "/home/other/x",
                           "/home/me/.local/state/bulkhead/journal.db",
                           "/home/me/.config/bulkhead/grants.json",
                           "/opt/app/secret",
                           "/var/lib/dpkg/status"}) {
    EXPECT_FALSE(verdict(Kind::kRead, path)) << path;
  }
  for (const char* path :
       {"/home/me/project/src/a.js", "/dev/null", "/dev/tty", "/dev/pts/3", "/tmp/x",
        "/proc/42/comm", "/proc/42/oom_score_adj", "/home/me/.local/state/bulkhead/storage/tool/a"})
    EXPECT_TRUE(verdict(Kind::kWrite, path)) << path;
  for (const char* path :
       {"/usr/bin/x", "/etc/passwd", "/home/me/.bashrc", "/home/me/project/.git/hooks/x",
        "/home/me/project/.git/config", "/home/me/project/.vscode/settings.json",
        "/home/me/project/bulkhead.json", "/proc/42/mem", "/proc/sysrq-trigger",
        "/proc/sys/vm/swappiness", "/dev/sda", "/sys/fs/cgroup/cgroup.procs"})
    EXPECT_FALSE(verdict(Kind::kWrite, path)) << path;
  EXPECT_EQ(policy->decide_environment("PATH").verdict, Verdict::kAllow);
  EXPECT_EQ(policy->decide_environment("LC_ALL").verdict, Verdict::kAllow);
  EXPECT_EQ(policy->decide_environment("GITHUB_TOKEN").verdict, Verdict::kDeny);
  EXPECT_EQ(decide(*policy, Kind::kConnect, "example.com:443").verdict, Verdict::kDeny);
  EXPECT_TRUE(verdict(Kind::kRun, "/usr/bin/git")) << "what it may read it may run";
  EXPECT_FALSE(verdict(Kind::kRun, "/home/me/notes.txt"));
  EXPECT_EQ(policy->private_home(), "/home/me");
}

// Where installers put toolchains; beside many of them lie tokens.
TEST_F(ShippedTest, BaselineReadsToolchainsAndNotTheTokensBesideThem) {
  const auto policy = compile(inputs());
  ASSERT_TRUE(policy);
  for (const char* path :
       {"/home/me/.rustup/toolchains/stable/bin/rustc", "/home/me/.cargo/bin/cargo",
        "/home/me/.cargo/registry/src/x/lib.rs", "/home/me/.pyenv/shims/python",
        "/home/me/.volta/bin/node", "/home/me/go/pkg/mod/x", "/home/me/.local/bin/tool",
        "/home/me/.m2/repository/a.jar", "/home/me/.gradle/caches/x", "/home/me/.bun/bin/bun",
        "/home/me/.local/share/pnpm/pnpm", "/home/me/.cache/ms-playwright/chromium/chrome",
        "/etc/java-17-openjdk/security/java.security", "/etc/manpath.config"}) {
    EXPECT_EQ(policy->decide_path(Kind::kRead, path).verdict, Verdict::kAllow) << path;
    EXPECT_EQ(policy->decide_path(Kind::kRun, path).verdict, Verdict::kAllow) << path;
    EXPECT_EQ(policy->decide_path(Kind::kWrite, path).verdict, Verdict::kDeny) << path;
  }
  for (const char* path :
       {"/home/me/.cargo/credentials.toml", "/home/me/.npmrc", "/home/me/.pypirc",
        "/home/me/.m2/settings.xml", "/home/me/.gradle/gradle.properties",
        "/home/me/.gem/credentials", "/home/me/.config/gh/hosts.yml",
        "/home/me/.docker/config.json", "/home/me/.terraform.d/x", "/home/me/.foundry/keystores/x",
        "/home/me/.dotnet/corefx/cryptography/x509stores/my/x", "/home/me/.stack/upload/x",
        "/home/me/.pub-cache/credentials.json", "/home/me/.yarnrc.yml",
        "/home/me/.config/composer/auth.json", "/home/me/.local/share/uv/credentials/x",
        "/home/me/.conan2/credentials.json", "/home/me/.gradle/init.gradle"})
    EXPECT_EQ(policy->decide_path(Kind::kRead, path).verdict, Verdict::kDeny) << path;
}

// The kernel decides about whole trees, which is what makes a compartment cheap: no block of the
// shipped list may break up the trees that every run uses.
TEST_F(ShippedTest, TheWorkspaceAndTheSystemStayWholeTreesForReading) {
  const auto policy = compile(inputs());
  ASSERT_TRUE(policy);
  for (const char* tree : {"/usr", "/home/me/project", "/etc/ssl/certs"}) {
    const auto& trees = policy->whole_trees();
    EXPECT_TRUE(std::any_of(trees.begin(), trees.end(), [&](const WholeTree& each) {
      return each.read && is_within(tree, each.path);
    })) << tree;
  }
}

TEST_F(ShippedTest, PrivateTreesAreNotGrantedBySets) {
  PolicyInputs in = inputs();
  in.scratch.clear();
  const auto policy = compile(in);
  for (const char* tree : {"/tmp", "/dev/shm", "/tmp/x", "/dev/shm/x"})
    EXPECT_EQ(policy->decide_path(Kind::kRead, tree).verdict, Verdict::kDeny)
        << tree << ": a set that grants it would share the machine's own";
}

TEST_F(ShippedTest, NothingInScratchTreesIsBlocked) {
  const auto policy = compile(inputs());
  for (const char* path :
       {"/tmp/.X11-unix/X0", "/tmp/ssh-abc/agent.1", "/tmp/.git/hooks/a", "/dev/shm/a"})
    EXPECT_EQ(policy->decide_path(Kind::kWrite, path).verdict, Verdict::kAllow) << path;
  for (const char* path : {"/tmp", "/tmp/a", "/dev/shm"})
    EXPECT_FALSE(policy->above_block(path)) << path;
}

TEST_F(ShippedTest, TheBlocklistHoldsAgainstAGrantOfEverything) {
  const auto policy = compile(everything_granted());
  ASSERT_TRUE(policy);
  const auto denied = [&](Kind kind, const std::string& path) {
    EXPECT_EQ(policy->decide_path(kind, path).verdict, Verdict::kDeny)
        << label(kind) << " " << path;
  };
  for (const char* path : {"/home/me/.ssh/id_ed25519",
                           "/home/me/.gnupg/private-keys-v1.d/x",
                           "/home/me/.config/sops/age/keys.txt",
                           "/home/me/.aws/credentials",
                           "/home/me/.config/gcloud/credentials.db",
                           "/home/me/.azure/x",
                           "/home/me/.kube/config",
                           "/home/me/.docker/config.json",
                           "/home/me/.npmrc",
                           "/home/me/.pypirc",
                           "/home/me/.cargo/credentials.toml",
                           "/home/me/.netrc",
                           "/home/me/.gem/credentials",
                           "/home/me/.config/composer/auth.json",
                           "/home/me/.nuget/NuGet/NuGet.Config",
                           "/home/me/.m2/settings.xml",
                           "/home/me/.terraform.d/credentials.tfrc.json",
                           "/home/me/.vault-token",
                           "/home/me/.config/gh/hosts.yml",
                           "/home/me/.config/hub",
                           "/home/me/.config/glab-cli/config.yml",
                           "/home/me/.git-credentials",
                           "/home/me/.mozilla/firefox/x",
                           "/home/me/.config/google-chrome/Default/Cookies",
                           "/home/me/.local/share/keyrings/login.keyring",
                           "/home/me/.password-store/a.gpg",
                           "/home/me/.bitcoin/wallet.dat",
                           "/home/me/.bash_history",
                           "/home/me/.zsh_history",
                           "/run/user/1000/bus",
                           "/run/user/1000/keyring/ssh",
                           "/run/user/1000/gnupg/S.gpg-agent",
                           "/run/docker.sock",
                           "/run/podman/podman.sock",
                           "/run/containerd/containerd.sock",
                           "/run/dbus/system_bus_socket",
                           "/tmp/.X11-unix/X0",
                           "/tmp/ssh-XXXX/agent.77",
                           "/tmp/dotnet-diagnostic-77-1-socket",
                           "/tmp/clr-debug-pipe-77-1-in",
                           "/tmp/.java_pid77",
                           "/tmp/.attach_pid77",
                           "/run/user/1000/wayland-0",
                           "/run/user/1000/pulse/native",
                           "/run/user/1000/pipewire-0",
                           "/run/user/1000/systemd/private",
                           "/run/nscd/socket",
                           "/home/me/.Xauthority",
                           "/etc/shadow",
                           "/proc/kcore",
                           "/proc/1/environ",
                           "/proc/9/mem",
                           "/proc/9/task/10/mem",
                           "/proc/kallsyms",
                           "/proc/sysrq-trigger",
                           "/dev/sda1",
                           "/dev/mem",
                           "/dev/input/event0",
                           "/dev/nvme0n1",
                           "/dev/tty1",
                           "/dev/video0",
                           "/dev/kvm",
                           "/home/me/.config/Code/User/globalStorage/state.vscdb",
                           "/home/me/.vsce",
                           "/home/me/.mcp-auth/mcp-remote-1/x_tokens.json",
                           "/home/me/.claude.json.backup",
                           "/home/me/.copilot/config.json",
                           "/home/me/.config/cursor/auth.json",
                           "/home/me/.awsvault/keys/x",
                           "/home/me/.dbt/profiles.yml",
                           "/home/me/.modal.toml",
                           "/home/me/.muttrc",
                           "/home/me/.config/curlrc",
                           "/home/me/.ansible/cp/x",
                           "/home/me/.local/share/sequoia/keystore/x"}) {
    denied(Kind::kRead, path);
    denied(Kind::kWrite, path);
  }
  for (const char* path : {"/home/me/.bashrc",
                           "/home/me/.profile",
                           "/home/me/.zshenv",
                           "/home/me/.config/fish/config.fish",
                           "/home/me/.config/autostart/x.desktop",
                           "/home/me/.config/systemd/user/x.service",
                           "/var/spool/cron/crontabs/me",
                           "/etc/cron.d/x",
                           "/home/me/Library/LaunchAgents/x.plist",
                           "/home/me/.config/Code/User/settings.json",
                           "/home/me/.vscode/extensions/x",
                           "/home/me/.gitconfig",
                           "/home/me/.local/bin/ls",
                           "/home/me/p/.git/hooks/post-checkout",
                           "/home/me/p/.git/config",
                           "/home/me/p/.git/modules/m/hooks/x",
                           "/srv/bare.git/hooks/x",
                           "/home/me/p/.hg/hgrc",
                           "/home/me/p/.sl/config",
                           "/home/me/p/.jj/repo/config.toml",
                           "/home/me/p/.jj/repo/store/git/config",
                           "/home/me/p/.pijul/config",
                           "/home/me/p/_darcs/prefs/defaults",
                           "/home/me/p/.helix/languages.toml",
                           "/home/me/p/.vim/coc-settings.json",
                           "/home/me/p/.vscode/tasks.json",
                           "/home/me/p/.vscode/launch.json",
                           "/home/me/p/.vscode/settings.json",
                           "/home/me/p/x.code-workspace",
                           "/home/me/p/.gemini/settings.json",
                           "/home/me/p/.codex/config.toml",
                           "/home/me/p/.kiro/hooks/x.kiro.hook",
                           "/home/me/p/.trae/mcp.json",
                           "/home/me/p/.roo/mcp.json",
                           "/home/me/p/.roomodes",
                           "/home/me/p/.roorules-code",
                           "/home/me/p/.kilocode/mcp.json",
                           "/home/me/p/.clinerules",
                           "/home/me/p/.clinerules/hooks/x",
                           "/home/me/p/.continue/mcpServers/x.yaml",
                           "/home/me/p/.continuerules",
                           "/home/me/p/.amazonq/mcp.json",
                           "/home/me/p/.junie/mcp/mcp.json",
                           "/home/me/p/.opencode/plugin/x.js",
                           "/home/me/p/opencode.json",
                           "/home/me/p/opencode.jsonc",
                           "/home/me/p/.qwen/settings.json",
                           "/home/me/p/.augment/rules/x.md",
                           "/home/me/p/.augment-guidelines",
                           "/home/me/p/.aider.conf.yml",
                           "/home/me/p/.cursorrules",
                           "/home/me/p/.windsurfrules",
                           "/home/me/p/.husky/pre-commit",
                           "/home/me/p/sub/.husky/_/pre-push",
                           "/home/me/p/.githooks/pre-commit",
                           "/home/me/p/.gitconfig",
                           "/home/me/p/.bare/hooks/pre-commit",
                           "/home/me/p/.bare/config",
                           "/home/me/p/.bare/worktrees/main/config",
                           "/home/me/p/.vscode/extensions/x/main.js",
                           "/home/me/p/.npmrc",
                           "/home/me/p/sub/.yarnrc.yml",
                           "/home/me/p/.pnpmfile.cjs",
                           "/home/me/p/bunfig.toml",
                           "/home/me/p/.venv/pip.conf",
                           "/home/me/p/.cargo/config.toml",
                           "/home/me/p/.mvn/extensions.xml",
                           "/home/me/.zshrc.zwc",
                           "/home/me/.zcompdump-host-5.9.zwc",
                           "/home/me/.cache/p10k-instant-prompt-me.zsh",
                           "/home/me/.p10k.zsh",
                           "/home/me/.fzf.bash",
                           "/home/me/.cargo/env",
                           "/home/me/.config/bash_completion",
                           "/home/me/.local/share/bash-completion/completions/git",
                           "/home/me/.config/user-dirs.dirs",
                           "/home/me/.xinputrc",
                           "/home/me/.config/jj/config.toml",
                           "/home/me/.config/bat/config",
                           "/home/me/.config/nix/nix.conf",
                           "/home/me/.cache/nvim/luac/x",
                           "/home/me/.cache/pre-commit/x",
                           "/home/me/.cache/node/corepack/v1/pnpm/x",
                           "/home/me/.local/share/claude/versions/x",
                           "/home/me/.config/pipewire/pipewire.conf",
                           "/home/me/p/.factory/mcp.json",
                           "/home/me/p/.crush.json",
                           "/home/me/p/.codebuddy/mcp.json",
                           "/home/me/p/.tabnine/agent/settings.json",
                           "/home/me/p/.grok/settings.json",
                           "/home/me/p/.devin/hooks.v1.json",
                           "/home/me/p/sub/.deepagents/.mcp.json",
                           "/home/me/p/.github/mcp.json",
                           "/home/me/p/.github/lsp.json",
                           "/home/me/p/.vscode/cody.json",
                           "/home/me/project/gptme.toml",
                           "/home/me/p/nuget.config",
                           "/home/me/project/mise.toml",
                           "/home/me/project/.mise/config.toml",
                           "/home/me/project/.config/mise/conf.d/x.toml",
                           "/home/me/project/.tool-versions",
                           "/home/me/project/rust-toolchain.toml",
                           "/home/me/project/x.sublime-project",
                           "/home/me/project/.agent/rules/x.md",
                           "/home/me/project/.yarn/releases/yarn-4.cjs",
                           "/proc/sys/kernel/core_pattern",
                           "/sys/kernel/x",
                           "/run/systemd/notify",
                           "/dev/log",
                           "/etc/ld.so.preload",
                           "/etc/sudoers"})
    denied(Kind::kWrite, path);
  PolicyInputs tokens = everything_granted();
  tokens.manifest.environment = {Entry{"NPM_*", {}}, Entry{"npm_*", {}}, Entry{"CLAUDE_*", {}}};
  for (const char* name :
       {"NPM_TOKEN", "NPM_CONFIG__AUTHTOKEN", "npm_config__auth", "CLAUDE_CODE_OAUTH_TOKEN"})
    EXPECT_EQ(compile(tokens)->decide_environment(name).verdict, Verdict::kDeny) << name;
  // Blocked for writing only.
  for (const char* path :
       {"/home/me/.bashrc", "/home/me/p/.git/config", "/home/me/p/.vscode/settings.json",
        "/home/me/p/.npmrc", "/home/me/p/.gemini/settings.json", "/home/me/p/.husky/pre-commit"})
    EXPECT_EQ(policy->decide_path(Kind::kRead, path).verdict, Verdict::kAllow) << path;
  // Names that begin alike and are not meant.
  for (const char* path :
       {"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/random", "/dev/tty", "/dev/pts/1",
        "/dev/null", "/home/me/.sshx", "/proc/10/status", "/proc/9/memx",
        "/home/me/project/.ssh/id_rsa.pub", "/home/me/.local/share/x", "/home/me/p/AGENTS.md",
        "/home/me/p/.github/workflows/ci.yml", "/home/me/p/.prettierrc", "/home/me/p/.geminirc",
        "/home/me/p/.gitignore", "/home/me/p/.rootrc", "/home/me/p/.factoryx",
        // Of packages that are unpacked: nothing reads them by itself.
        "/home/me/project/node_modules/a/mise.toml",
        "/home/me/project/vendor/a/rust-toolchain.toml", "/home/me/project/.yarn/cache/a.zip",
        "/home/me/.zshrcx"})
    EXPECT_EQ(policy->decide_path(Kind::kWrite, path).verdict, Verdict::kAllow) << path;
}

// Where what serves pipelines looks by its own documentation.
TEST_F(ShippedTest, PipelinesAreReadAndNotWritten) {
  const auto policy = compile(everything_granted());
  ASSERT_TRUE(policy);
  for (const char* name : {".github/workflows/ci.yml",
                           "Jenkinsfile",
                           ".zuul.yaml",
                           ".zuul.d/jobs.yaml",
                           "zuul.yaml",
                           "zuul.d/jobs.yaml",
                           ".onedev-buildspec.yml",
                           ".space.kts",
                           "build_spec.yaml",
                           ".sourcecraft/ci.yaml",
                           ".cds/build.pip.yml",
                           ".taskcluster.yml",
                           ".prow.yaml",
                           ".prow/jobs.yaml",
                           ".vela.yml",
                           "buddy.yml",
                           ".buddy/all.yml",
                           ".packit.yaml",
                           "ci_scripts/ci_post_clone.sh",
                           "build.gocd.yaml",
                           "deep/down/build.gocd.yml"}) {
    const std::string path = std::string("/home/me/project/") + name;
    EXPECT_EQ(policy->decide_path(Kind::kWrite, path).verdict, Verdict::kDeny) << path;
    EXPECT_EQ(policy->decide_path(Kind::kRead, path).verdict, Verdict::kAllow) << path;
  }
}

// By as many parts as names of submodules have, and what git itself writes there goes on.
TEST_F(ShippedTest, SettingsOfSubmodulesAreGitsOwn) {
  const auto policy = compile(everything_granted());
  ASSERT_TRUE(policy);
  for (const char* folder : {"/.git", "/bare.git", "/.git/worktrees/here"}) {
    std::string path = "/home/me/project" + std::string(folder) + "/modules";
    for (int parts = 1; parts <= 8; ++parts) {
      path += "/part";
      for (const char* name : {"/config", "/config.worktree", "/hooks/post-commit", "/commondir"})
        EXPECT_EQ(policy->decide_path(Kind::kWrite, path + name).verdict, Verdict::kDeny)
            << path << name;
      EXPECT_TRUE(policy->above_block(path)) << path;
      for (const char* name : {"/HEAD", "/index", "/objects/ab/cdef", "/refs/heads/main"}) {
        EXPECT_EQ(policy->decide_path(Kind::kWrite, path + name).verdict, Verdict::kAllow)
            << path << name;
        EXPECT_FALSE(policy->stands_above_block(path + name)) << path << name;
      }
    }
  }
}

// git asks there where no file says that the settings are elsewhere: a worktree's file that says
// where its folder is may be moved to where it names a new one.
TEST_F(ShippedTest, AWorktreesFolderHasNoSettings) {
  const auto policy = compile(everything_granted());
  ASSERT_TRUE(policy);
  const std::string folder = "/home/me/project/moved/.git/worktrees/here";
  for (const char* name : {"/config", "/config.worktree", "/hooks/post-commit", "/commondir"})
    EXPECT_EQ(policy->decide_path(Kind::kWrite, folder + name).verdict, Verdict::kDeny) << name;
  EXPECT_EQ(policy->decide_path(Kind::kWrite, folder + "/HEAD").verdict, Verdict::kAllow);
}

// What bulkhead decides by, and what it runs outside of compartments, is worth an entry each: where
// one goes, a path of these can be written, or read.
TEST_F(ShippedTest, EachEntryOfBulkheadsOwnGroupIsNeeded) {
  const std::string state = "/home/me/.local/state/bulkhead/", data = state + "code/data/",
                    user = data + "data/User/";
  const std::vector<std::string> unread = {"/home/me/.config/bulkhead/grants.json",
                                           state + "journal.db",
                                           state + "journal.db.lock",
                                           state + "question.lock",
                                           state + "keys/x",
                                           state + "packages/x",
                                           state + "run/x",
                                           state + "node-cache/0/x",
                                           state + "homes/a.b-0/home/x",
                                           data + "token-7",
                                           data + "secrets-key",
                                           "/run/user/1000/bulkhead/x",
                                           user + "globalStorage/state.vscdb",
                                           user + "globalStorage/state.vscdb.backup",
                                           user + "History/x"};
  const std::vector<std::string> unwritten = {
      "/etc/bulkhead/policy.json",
      "/home/me/p/bulkhead.json",
      "/home/me/p/tool.bulkhead.json",
      "/usr/share/bulkhead/manifests/blocklist.json",
      "/usr/local/share/bulkhead/manifests/blocklist.json",
      "/home/me/.local/share/bulkhead/manifests/blocklist.json",
      "/home/me/bulkhead/vscode/launcher/preload.cjs",
      state + "editor/4.139.1-0/launch.json",
      state + "code/extensions/x/main.js",
      data + "data/Machine/settings.json",
      data + "data/CachedProfilesData/x",
      user + "settings.json",
      user + "tasks.json",
      user + "launch.json",
      user + "keybindings.json",
      user + "mcp.json",
      user + "locale.json",
      user + "argv.json",
      user + "snippets/x",
      user + "profiles/x/tasks.json",
      user + "prompts/x",
      user + "sync/x",
      user + "customBuiltinExtensions.json"};
  const auto allowed = [&](const PolicyInputs& in) {
    const auto policy = compile(in);
    std::string found;
    for (const auto& [kind, paths] :
         {std::pair(Kind::kRead, unread), std::pair(Kind::kWrite, unwritten)})
      for (const std::string& path : paths)
        if (policy->decide_path(kind, path).verdict == Verdict::kAllow) found += path + " ";
    return found;
  };
  const PolicyInputs all = everything_granted();
  EXPECT_EQ(allowed(all), "");
  const auto& groups = all.blocklists[0].groups;
  const size_t own =
      static_cast<size_t>(std::find_if(groups.begin(), groups.end(),
                                       [](const auto& g) { return g.name == "bulkhead"; }) -
                          groups.begin());
  ASSERT_LT(own, groups.size());
  for (auto list : {&BlockGroup::block, &BlockGroup::block_write}) {
    for (size_t i = 0; i < (groups[own].*list).size(); ++i) {
      PolicyInputs without = all;
      auto& entries = without.blocklists[0].groups[own].*list;
      const std::string entry = entries[i].text;
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_NE(allowed(without), "") << entry << ": no test misses it";
    }
  }
}

TEST_F(ShippedTest, EveryGroupSaysWhyAndBlocksSomething) {
  for (const BlockGroup& group : shipped().blocklists[0].groups) {
    EXPECT_TRUE(group.reason.size() > 10 && group.reason.back() == '.') << group.name;
    EXPECT_GT(group.block.size() + group.block_write.size() + group.network.size() +
                  group.run.size() + group.environment.size() + group.vscode.size(),
              0U)
        << group.name;
    PolicyInputs lifted = inputs();
    lifted.lifted = {group.name};
    EXPECT_TRUE(compile(lifted)) << group.name;
  }
}

// A read block that could match anywhere would take the fast path from every workspace.
TEST_F(ShippedTest, ReadBlocksAreAnchored) {
  for (const BlockGroup& group : shipped().blocklists[0].groups)
    for (const Entry& entry : group.block)
      EXPECT_FALSE(entry.text.starts_with("**/")) << group.name << ": " << entry.text;
}

TEST_F(ShippedTest, NoEntryOfAGroupIsCoveredByAnotherOfIt) {
  for (const BlockGroup& group : shipped().blocklists[0].groups)
    for (const auto* list : {&group.block, &group.block_write})
      for (const Entry& a : *list)
        for (const Entry& b : *list)
          EXPECT_FALSE(&a != &b && a.text.find('*') == std::string::npos &&
                       a.text.starts_with(b.text + "/"))
              << group.name << ": " << a.text << " lies in " << b.text;
}

TEST_F(ShippedTest, NoSetGrantsAWholeHomeOrEtc) {
  for (const auto& [name, set] : shipped().sets) {
    EXPECT_FALSE(set.about.empty()) << name;
    for (const std::string_view wide :
         {"/", "/etc", "/home", "/home/me", "/var", "/run", "/proc", "/sys", "/dev", "/root",
          "/tmp", "/opt", "/home/me/.config", "/home/me/.local/share"}) {
      PolicyInputs one = inputs();
      one.baseline.reset();
      one.blocklists.clear();
      one.scratch.clear();
      one.manifest.files.read = {Entry{"@" + name, {}}};
      const auto policy = compile(one);
      ASSERT_TRUE(policy);
      const bool listed = name == "system" && (wide == "/proc" || wide == "/dev" || wide == "/opt");
      EXPECT_EQ(policy->decide_path(Kind::kRead, wide).verdict,
                listed ? Verdict::kAllow : Verdict::kDeny)
          << "@" << name << " grants " << wide;
      EXPECT_EQ(policy->decide_path(Kind::kRead, join(wide, "no-such-name")).verdict,
                Verdict::kDeny)
          << "@" << name << " grants " << wide;
    }
  }
}

// What a set grants shall be of use: no entry of one lies wholly in a block of reading.
TEST_F(ShippedTest, NoSetGrantsWhatIsBlocked) {
  for (const auto& [name, set] : shipped().sets) {
    PolicyInputs one = inputs();
    one.baseline.reset();
    one.manifest.files.read = {Entry{"@" + name, {}}};
    if (!set.run.empty()) one.manifest.run = {Entry{"@" + name, {}}};
    const auto policy = compile(one);
    ASSERT_TRUE(policy);
    for (const Rule& rule : policy->rules()) {
      if (rule.group != "@" + name || rule.resolved.find('*') != std::string::npos) continue;
      if (rule.resolved.empty() || rule.resolved.find('\\') != std::string::npos) continue;
      if (rule.resolved.ends_with("/.")) continue;  // no path
      const Kind kind =
          (rule.kinds & (1U << static_cast<unsigned>(Kind::kRead))) != 0 ? Kind::kRead : Kind::kRun;
      EXPECT_EQ(policy->decide_path(kind, rule.resolved).verdict, Verdict::kAllow)
          << "@" << name << ": " << rule.resolved << " is blocked by "
          << policy->rule(policy->decide_path(kind, rule.resolved).rule).group;
    }
  }
}

TEST_F(ShippedTest, AWideNetworkGrantCompilesBesideTheBlocklist) {
  PolicyInputs in = inputs();
  in.manifest.network = {Entry{"*:443", {}}, Entry{"169.254.0.0/16:*", {}}};
  const auto policy = compile(in);
  ASSERT_TRUE(policy);
  EXPECT_EQ(decide(*policy, Kind::kConnect, "example.com:443").verdict, Verdict::kAllow);
  EXPECT_EQ(decide(*policy, Kind::kConnect, "169.254.1.1:80").verdict, Verdict::kAllow);
  EXPECT_EQ(decide(*policy, Kind::kConnect, "169.254.169.254:80").verdict, Verdict::kDeny);
}

TEST_F(ShippedTest, EssentialsGrantOnlyDevicesAndTheProcessItself) {
  PolicyInputs in = inputs();
  in.baseline = shipped().essentials;
  const auto policy = compile(in);
  ASSERT_TRUE(policy);
  EXPECT_EQ(policy->decide_path(Kind::kWrite, "/dev/null").verdict, Verdict::kAllow);
  for (const char* listed : {"/dev", "/proc"})
    EXPECT_EQ(policy->decide_path(Kind::kRead, listed).verdict, Verdict::kAllow) << listed;
  for (const char* path : {"/home/me/project/a", "/usr/bin/cat", "/etc/passwd", "/dev/sda"}) {
    EXPECT_EQ(policy->decide_path(Kind::kRead, path).verdict, Verdict::kDeny) << path;
    EXPECT_EQ(policy->decide_path(Kind::kWrite, path).verdict, Verdict::kDeny) << path;
  }
  EXPECT_EQ(policy->decide_environment("PATH").verdict, Verdict::kDeny);
}

}  // namespace
}  // namespace bulkhead
