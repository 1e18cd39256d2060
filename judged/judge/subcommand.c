/*
 * Programs whose first words say what they do: the table, a row a subcommand.
 */
#include <string.h>

#include "../shell/names.h"
#include "judge_int.h"
#include "options.h"
#include "self.h"
#include "zone.h"

/*
 * "words" are the first operands, each perhaps one of several ("a|b"); "" is
 * the program without an operand, "*" whatever no row above names.
 */
static const struct sub_row {
	const char	*program;
	const char	*words;
	enum class_id	 id;
} rows[] = {
	/* packages of the system */
	{ "apt", "list|show|search|policy|depends|rdepends|changelog|moo|help",
	    CLASS_READ },
	{ "apt", "", CLASS_READ }, { "apt", "*", CLASS_ELEVATED },
	{ "apt-get", "download|source|changelog", CLASS_NET_READ },
	{ "apt-get", "check|indextargets", CLASS_READ },
	{ "apt-get", "", CLASS_READ }, { "apt-get", "*", CLASS_ELEVATED },
	{ "aptitude", "search|show|why|why-not|versions|download|help",
	    CLASS_READ },
	{ "aptitude", "*", CLASS_ELEVATED },
	{ "apt-mark", "showauto|showmanual|showhold|showinstall",
	    CLASS_READ },
	{ "apt-mark", "*", CLASS_ELEVATED },
	{ "apt-key", "list|finger|export|exportall", CLASS_READ },
	{ "apt-key", "*", CLASS_ELEVATED },
	{ "add-apt-repository", "*", CLASS_ELEVATED },
	{ "dnf", "list|info|search|repolist|provides|history|check-update|"
	    "repoquery", CLASS_READ },
	{ "dnf", "*", CLASS_ELEVATED },
	{ "yum", "list|info|search|repolist|provides|history|check-update",
	    CLASS_READ },
	{ "yum", "*", CLASS_ELEVATED },
	{ "zypper", "search|se|info|if|list-updates|lu|repos|lr|packages",
	    CLASS_READ },
	{ "zypper", "*", CLASS_ELEVATED },
	{ "apk", "info|search|list|policy|version|stats", CLASS_READ },
	{ "apk", "*", CLASS_ELEVATED },
	{ "snap", "list|info|find|version|connections|services", CLASS_READ },
	{ "snap", "*", CLASS_ELEVATED },
	{ "flatpak", "list|info|search|remotes|ps|history", CLASS_READ },
	{ "flatpak", "run", CLASS_READ },
	{ "flatpak", "*", CLASS_ELEVATED },
	{ "port", "list|search|info|installed|contents|deps|variants",
	    CLASS_READ },
	{ "port", "*", CLASS_ELEVATED },
	/* packages of languages and of users: code from the network */
	{ "pip", "list|show|freeze|check|config|cache|debug|hash|inspect|"
	    "help|completion", CLASS_READ },
	{ "pip", "download|search|index", CLASS_NET_READ },
	{ "pip", "uninstall", CLASS_MUTATE },
	{ "pip", "install|wheel", CLASS_REMOTE },
	{ "pip", "*", CLASS_READ },
	{ "pipx", "list|environment|completions", CLASS_READ },
	{ "pipx", "uninstall|uninstall-all", CLASS_MUTATE },
	{ "pipx", "install|run|inject|upgrade|upgrade-all|reinstall|"
	    "reinstall-all|runpip|install-all", CLASS_REMOTE },
	{ "uv", "pip install|sync", CLASS_REMOTE },
	{ "uv", "add|sync|tool|python|self", CLASS_REMOTE },
	{ "uv", "publish", CLASS_NET_WRITE },
	{ "poetry", "install|add|update|sync|self", CLASS_REMOTE },
	{ "poetry", "publish", CLASS_NET_WRITE },
	{ "poetry", "remove|init|new|version|lock|config|env|cache",
	    CLASS_MUTATE },
	{ "pdm", "install|add|update|sync|self", CLASS_REMOTE },
	{ "pdm", "publish", CLASS_NET_WRITE },
	{ "pipenv", "install|update|sync|upgrade", CLASS_REMOTE },
	{ "hatch", "publish", CLASS_NET_WRITE },
	{ "twine", "upload|register", CLASS_NET_WRITE },
	{ "conda", "env list|export", CLASS_READ },
	{ "conda", "list|info|search|config|doctor|compare", CLASS_READ },
	{ "conda", "install|create|update|upgrade|env|build", CLASS_REMOTE },
	{ "conda", "remove|uninstall|clean", CLASS_MUTATE },
	{ "mamba", "install|create|update|env", CLASS_REMOTE },
	{ "micromamba", "install|create|update|env", CLASS_REMOTE },
	{ "easy_install", "*", CLASS_REMOTE },
	{ "npm", "install|i|in|ins|ci|add|update|up|upgrade|exec|x|init|"
	    "create|install-test|it|install-ci-test|cit|link|ln|rebuild|rb|"
	    "dedupe|innit|clean-install|isntall", CLASS_REMOTE },
	{ "npm", "publish|unpublish|deprecate|undeprecate|owner|access|token|"
	    "team|org|dist-tag|login|adduser|add-user|logout|star|unstar|"
	    "profile|hook|trust", CLASS_NET_WRITE },
	{ "npm", "view|v|info|show|search|s|se|find|outdated|audit|ping|"
	    "whoami|repo|docs|home|bugs|fund|diff|doctor|stars|sbom",
	    CLASS_NET_READ },
	{ "npm", "config|c get|list|ls", CLASS_READ },
	{ "npm", "uninstall|un|remove|rm|r|prune|version|pkg|set|config|"
	    "c|cache|shrinkwrap|pack|edit", CLASS_MUTATE },
	{ "npm", "*", CLASS_READ },
	{ "yarn", "", CLASS_REMOTE },
	{ "yarn", "install|add|up|upgrade|upgrade-interactive|dlx|create|"
	    "global|import|link|set|rebuild|dedupe", CLASS_REMOTE },
	{ "yarn", "publish|login|logout|owner|tag|team|npm", CLASS_NET_WRITE },
	{ "yarn", "info|audit|outdated", CLASS_NET_READ },
	{ "yarn", "remove|unlink|version|config|cache|autoclean|init|pack",
	    CLASS_MUTATE },
	{ "yarn", "*", CLASS_READ },
	{ "pnpm", "install|i|add|update|up|upgrade|dlx|create|import|link|"
	    "ln|rebuild|rb|fetch|env|install-test|it|dedupe|ci",
	    CLASS_REMOTE },
	{ "pnpm", "publish|login|logout", CLASS_NET_WRITE },
	{ "pnpm", "audit|outdated", CLASS_NET_READ },
	{ "pnpm", "remove|rm|uninstall|un|prune|store|patch|unlink",
	    CLASS_MUTATE },
	{ "pnpm", "*", CLASS_READ },
	{ "bun", "install|i|add|a|update|x|create|upgrade|link", CLASS_REMOTE },
	{ "bun", "publish", CLASS_NET_WRITE },
	{ "bun", "remove|rm|unlink|pm", CLASS_MUTATE },
	{ "npx", "*", CLASS_REMOTE }, { "pnpx", "*", CLASS_REMOTE },
	{ "bunx", "*", CLASS_REMOTE }, { "uvx", "*", CLASS_REMOTE },
	{ "degit", "*", CLASS_NET_READ }, { "ncu", "*", CLASS_NET_READ },
	{ "corepack", "use|up|install|prepare|enable", CLASS_REMOTE },
	{ "deno", "install|i|add|upgrade", CLASS_REMOTE },
	{ "deno", "publish|deploy", CLASS_NET_WRITE },
	{ "deno", "remove|uninstall|fmt|init", CLASS_MUTATE },
	{ "deno", "*", CLASS_READ },
	{ "jsr", "add|install|i", CLASS_REMOTE },
	{ "gem", "install|update|fetch|i", CLASS_REMOTE },
	{ "gem", "push|yank|owner|signin|signout", CLASS_NET_WRITE },
	{ "gem", "uninstall|cleanup|build|pristine", CLASS_MUTATE },
	{ "gem", "*", CLASS_READ },
	{ "bundle", "", CLASS_REMOTE },
	{ "bundle", "install|update|add|package|cache|plugin", CLASS_REMOTE },
	{ "bundle", "outdated", CLASS_NET_READ },
	{ "bundle", "remove|clean|config|init|lock|binstubs|pristine",
	    CLASS_MUTATE },
	{ "bundler", "*", CLASS_REMOTE },
	{ "cargo", "install|binstall|update|fetch", CLASS_REMOTE },
	{ "cargo", "publish|yank|owner|login|logout", CLASS_NET_WRITE },
	{ "cargo", "search|info|audit|outdated", CLASS_NET_READ },
	{ "cargo", "add|remove|rm|new|init|fix|fmt|clean|uninstall|vendor|"
	    "package|generate-lockfile", CLASS_MUTATE },
	{ "cargo", "*", CLASS_READ },
	{ "rustup", "show|which|doc|man|completions|check", CLASS_READ },
	{ "rustup", "override|default|set", CLASS_MUTATE },
	{ "rustup", "*", CLASS_REMOTE },
	{ "go", "install|get", CLASS_REMOTE },
	{ "go", "work sync", CLASS_REMOTE },
	{ "go", "mod download|tidy|vendor", CLASS_NET_READ },
	{ "go", "mod|fmt|fix|clean|generate|work", CLASS_MUTATE },
	{ "go", "*", CLASS_READ },
	{ "composer", "install|update|require|create-project|global|i|u",
	    CLASS_REMOTE },
	{ "composer", "show|validate|licenses|depends|why|status",
	    CLASS_READ },
	{ "composer", "search|outdated|audit|browse", CLASS_NET_READ },
	{ "composer", "*", CLASS_MUTATE },
	{ "pecl", "list|info|search", CLASS_READ },
	{ "pecl", "*", CLASS_REMOTE },
	{ "brew", "list|ls|info|search|config|doctor|deps|uses|outdated|"
	    "leaves|home|desc|log|cat|commands|options", CLASS_READ },
	{ "brew", "services list", CLASS_READ },
	{ "brew", "uninstall|remove|rm|cleanup|pin|unpin|autoremove",
	    CLASS_MUTATE },
	{ "brew", "", CLASS_READ }, { "brew", "*", CLASS_REMOTE },
	{ "nix", "flake show|metadata|check|info", CLASS_READ },
	{ "nix", "flake init|lock|new", CLASS_MUTATE },
	{ "nix", "search|eval|show-config|log|repl|why-depends|path-info|"
	    "hash|store|doctor|fmt|derivation", CLASS_READ },
	{ "nix", "", CLASS_READ }, { "nix", "*", CLASS_REMOTE },
	{ "nix-env", "*", CLASS_REMOTE },
	{ "nix-shell", "*", CLASS_REMOTE },
	{ "guix", "search|show|describe|size|lint|", CLASS_READ },
	{ "guix", "*", CLASS_REMOTE },
	{ "mix", "deps.get|deps.update|local.hex|local.rebar|"
	    "archive.install|escript.install", CLASS_REMOTE },
	{ "mix", "hex.publish", CLASS_NET_WRITE },
	{ "cpan", "*", CLASS_REMOTE }, { "cpanm", "*", CLASS_REMOTE },
	{ "luarocks", "install|build|make", CLASS_REMOTE },
	{ "luarocks", "upload", CLASS_NET_WRITE },
	{ "opam", "install|update|upgrade|init|switch|pin", CLASS_REMOTE },
	{ "cabal", "install|update|get|fetch", CLASS_REMOTE },
	{ "cabal", "upload", CLASS_NET_WRITE },
	{ "stack", "install|setup|update|upgrade", CLASS_REMOTE },
	{ "asdf", "install|plugin|update", CLASS_REMOTE },
	{ "mise", "install|use|upgrade|plugins|self-update", CLASS_REMOTE },
	{ "nvm", "install|reinstall-packages", CLASS_REMOTE },
	{ "pyenv", "install|update", CLASS_REMOTE },
	{ "rbenv", "install", CLASS_REMOTE },
	{ "sdk", "install|update|upgrade|selfupdate", CLASS_REMOTE },
	{ "code", "*", CLASS_READ },
	{ "pod", "install|update", CLASS_REMOTE },
	{ "pod", "trunk|push", CLASS_NET_WRITE },
	{ "dotnet", "add|restore|tool|workload|new", CLASS_REMOTE },
	{ "dotnet", "nuget", CLASS_NET_WRITE },
	{ "nuget", "install|restore|update", CLASS_REMOTE },
	{ "nuget", "push|delete|setapikey", CLASS_NET_WRITE },
	{ "vcpkg", "install|update|upgrade", CLASS_REMOTE },
	{ "conan", "install|download|create", CLASS_REMOTE },
	{ "conan", "upload", CLASS_NET_WRITE },
	{ "helm", "install|upgrade|uninstall|delete|rollback|push|test",
	    CLASS_NET_WRITE },
	{ "helm", "pull|repo|search|dependency|registry|plugin|list|ls|"
	    "status|history|get", CLASS_NET_READ },
	{ "helm", "*", CLASS_READ },
	{ "kubectl", "get|describe|logs|top|explain|version|api-resources|"
	    "api-versions|cluster-info|diff|events|wait|auth|completion|"
	    "options|help|kustomize|", CLASS_NET_READ },
	{ "kubectl", "rollout status|history", CLASS_NET_READ },
	{ "kubectl", "config view|get-contexts|current-context|get-clusters|"
	    "get-users", CLASS_NET_READ },
	{ "kubectl", "plugin list", CLASS_READ },
	{ "kubectl", "*", CLASS_NET_WRITE },
	{ "terraform", "fmt", CLASS_MUTATE },
	{ "terraform", "validate|version|graph|console|", CLASS_READ },
	{ "terraform", "state list|show|pull", CLASS_NET_READ },
	{ "terraform", "workspace list|show", CLASS_NET_READ },
	{ "terraform", "plan|show|output|providers|metadata", CLASS_NET_READ },
	{ "terraform", "*", CLASS_NET_WRITE },
	{ "ansible-galaxy", "collection|role install", CLASS_REMOTE },
	{ "ansible-galaxy", "install", CLASS_REMOTE },
	{ "ansible-galaxy", "*", CLASS_READ },
	/* containers */
	{ "docker", "system prune", CLASS_DESTROY },
	{ "docker", "image|container|volume|network|builder|buildx|stack|"
	    "service|secret|config|node|context|plugin|pod|machine|swarm "
	    "prune|rm|remove|rmi|down|leave", CLASS_DESTROY },
	{ "docker", "swarm|service|stack|node|secret|config",
	    CLASS_NET_WRITE },
	{ "docker", "image|container|volume|network|context|node|service|"
	    "stack|config|secret|plugin|system|builder|buildx|manifest|"
	    "trust|swarm|pod|machine ls|list|ps|inspect|history|df|info|"
	    "events|logs|top|"
	    "stats|port|diff|version|du|show", CLASS_READ },
	{ "docker", "rm|rmi|kill", CLASS_DESTROY },
	{ "docker", "ps|images|logs|inspect|info|version|stats|top|port|diff|"
	    "history|events|search|context|wait|", CLASS_READ },
	{ "docker", "compose ps|logs|config|ls|images|top|version|port|"
	    "events", CLASS_READ },
	{ "docker", "compose down|rm|kill", CLASS_DESTROY },
	{ "docker", "compose", CLASS_REMOTE },
	{ "docker", "pull", CLASS_NET_READ },
	{ "docker", "push|login|logout", CLASS_NET_WRITE },
	{ "docker", "run|create|exec|build|buildx|load|import|start|restart",
	    CLASS_REMOTE },
	{ "docker", "*", CLASS_MUTATE },
	{ "docker-compose", "ps|logs|config|images|top|version|port|events",
	    CLASS_READ },
	{ "docker-compose", "down|rm|kill", CLASS_DESTROY },
	{ "docker-compose", "*", CLASS_REMOTE },
	{ "docker-machine", "ls|env|ip|status|inspect|config|url",
	    CLASS_READ },
	{ "docker-machine", "*", CLASS_ELEVATED },
	{ "vagrant", "status|global-status|box|port|ssh-config|validate|"
	    "version", CLASS_READ },
	{ "vagrant", "destroy", CLASS_DESTROY },
	{ "vagrant", "", CLASS_READ }, { "vagrant", "*", CLASS_REMOTE },
	{ "minikube", "status|ip|dashboard|logs|profile|version",
	    CLASS_READ },
	{ "minikube", "*", CLASS_REMOTE },
	/* the host */
	{ "systemctl", "status|list-units|list-unit-files|list-timers|"
	    "list-sockets|list-jobs|list-dependencies|list-machines|show|cat|"
	    "is-active|is-enabled|is-failed|is-system-running|help|"
	    "show-environment|get-default|", CLASS_READ },
	{ "systemctl", "*", CLASS_ELEVATED },
	{ "rc-service", "*", CLASS_ELEVATED },
	{ "rc-update", "*", CLASS_ELEVATED },
	{ "loginctl", "list-sessions|list-users|list-seats|show-session|"
	    "show-user|session-status|user-status|", CLASS_READ },
	{ "loginctl", "*", CLASS_ELEVATED },
	{ "timedatectl", "status|show|list-timezones|timesync-status|",
	    CLASS_READ },
	{ "timedatectl", "*", CLASS_ELEVATED },
	{ "hostnamectl", "status|", CLASS_READ },
	{ "hostnamectl", "*", CLASS_ELEVATED },
	{ "localectl", "status|list-locales|list-keymaps|", CLASS_READ },
	{ "localectl", "*", CLASS_ELEVATED },
	{ "networkctl", "list|status|lldp|", CLASS_READ },
	{ "networkctl", "*", CLASS_ELEVATED },
	{ "nmcli", "general|g|device|dev|d|connection|con|c|radio|r|"
	    "networking|n|monitor|m status|show|list|hostname|permissions|"
	    "logging|connectivity|", CLASS_READ },
	{ "nmcli", "", CLASS_READ }, { "nmcli", "*", CLASS_ELEVATED },
	{ "resolvectl", "status|query|statistics|service|openpgp|tlsa|",
	    CLASS_NET_READ },
	{ "resolvectl", "*", CLASS_ELEVATED },
	{ "bootctl", "status|list|is-installed|", CLASS_READ },
	{ "bootctl", "*", HARD_BOOT },
	{ "machinectl", "list|status|show|list-images|", CLASS_READ },
	{ "machinectl", "*", CLASS_ELEVATED },
	{ "ufw", "status|show|version|app", CLASS_READ },
	{ "ufw", "*", CLASS_ELEVATED },
	{ "nft", "list", CLASS_READ }, { "nft", "*", CLASS_ELEVATED },
	{ "virsh", "list|dominfo|domstate|net-list|pool-list|vol-list|"
	    "capabilities|nodeinfo|dumpxml|help|version", CLASS_READ },
	{ "virsh", "undefine|destroy|vol-delete|pool-delete", CLASS_DESTROY },
	{ "virsh", "*", CLASS_ELEVATED },
	{ "lxc", "list|info|config|image|profile|network|version",
	    CLASS_READ },
	{ "lxc", "*", CLASS_ELEVATED },
	/* snapshots and volumes */
	{ "zfs", "destroy", HARD_SNAPSHOT }, { "zfs", "rollback",
	    CLASS_DESTROY },
	{ "zfs", "list|get|diff|holds|send|version|userspace|", CLASS_READ },
	{ "zfs", "*", CLASS_ELEVATED },
	{ "zpool", "destroy", HARD_SNAPSHOT },
	{ "zpool", "list|status|iostat|history|get|events|version|",
	    CLASS_READ },
	{ "zpool", "labelclear", HARD_DISK }, { "zpool", "*",
	    CLASS_ELEVATED },
	{ "btrfs", "subvolume|subvolum|subvolu|subvol|subvo|subv|sub|su|s "
	    "delete|delet|dele|del|de|d", HARD_SNAPSHOT },
	{ "btrfs", "subvolume|subvol|subv|sub|su|filesystem|fi|device|dev|scrub|"
	    "balance|property|qgroup|quota|inspect-internal "
	    "list|show|df|usage|du|stats|status|get|get-default|dump-tree",
	    CLASS_READ },
	{ "btrfs", "*", CLASS_ELEVATED },
	{ "snapper", "delete|remove|rm", HARD_SNAPSHOT },
	{ "snapper", "list|ls|status|diff|list-configs|get-config",
	    CLASS_READ },
	{ "snapper", "*", CLASS_ELEVATED },
	/* other things */
	{ "hg", "push|email|serve", CLASS_NET_WRITE },
	{ "hg", "pull|clone|incoming|outgoing|in|out", CLASS_NET_READ },
	{ "hg", "purge|strip|revert", CLASS_DESTROY },
	{ "hg", "commit|ci|add|rm|remove|mv|rename|update|up|merge|branch|"
	    "tag|init|import|graft|backout|bookmark|forget|shelve",
	    CLASS_MUTATE },
	{ "hg", "*", CLASS_READ },
	{ "svn", "commit|ci|import|copy|mkdir|delete|lock|propset",
	    CLASS_NET_WRITE },
	{ "svn", "checkout|co|update|up|export|log|list|ls|cat|blame|switch",
	    CLASS_NET_READ },
	{ "svn", "revert|cleanup", CLASS_DESTROY },
	{ "svn", "*", CLASS_READ },
	{ "jj", "git push", CLASS_NET_WRITE },
	{ "jj", "git fetch|clone", CLASS_NET_READ },
	{ "vercel", "ls|list|inspect|logs|whoami|dev|help", CLASS_NET_READ },
	{ "vercel", "*", CLASS_NET_WRITE },
	{ "netlify", "status|open|dev|watch|help|build", CLASS_NET_READ },
	{ "netlify", "*", CLASS_NET_WRITE },
	{ "ansible", "*", CLASS_NET_WRITE },
	{ "ansible-playbook", "*", CLASS_NET_WRITE },
	{ "cdk", "deploy|destroy|bootstrap|import|rollback", CLASS_NET_WRITE },
	{ "cdk", "*", CLASS_READ },
	{ "serverless", "deploy|remove|rollback|invoke", CLASS_NET_WRITE },
	{ "serverless", "*", CLASS_READ },
	{ "sam", "deploy|delete|sync|publish", CLASS_NET_WRITE },
	{ "sam", "*", CLASS_READ },
	{ "eb", "deploy|create|terminate|scale|setenv|swap|restore",
	    CLASS_NET_WRITE },
	{ "copilot", "deploy|svc|job|env|app", CLASS_NET_WRITE },
	{ "amplify", "push|publish|delete", CLASS_NET_WRITE },
	{ "cap", "*", CLASS_NET_WRITE },
	{ "kamal", "config|details|app|version|docs|", CLASS_NET_READ },
	{ "kamal", "*", CLASS_NET_WRITE },
	{ "surge", "*", CLASS_NET_WRITE },
	{ "skaffold", "deploy|run|dev|delete|apply", CLASS_NET_WRITE },
	{ "packer", "build|push|publish", CLASS_NET_WRITE },
	{ "goreleaser", "release", CLASS_NET_WRITE },
	{ "semantic-release", "*", CLASS_NET_WRITE },
	{ "vault", "read|list|status|version|print", CLASS_NET_READ },
	{ "vault", "kv get|list", CLASS_NET_READ },
	{ "vault", "*", CLASS_NET_WRITE },
	{ "consul", "members|info|catalog|version|validate", CLASS_NET_READ },
	{ "consul", "*", CLASS_NET_WRITE },
	{ "argocd", "app get|list|diff|logs|history", CLASS_NET_READ },
	{ "argocd", "*", CLASS_NET_WRITE },
	{ "flux", "get|check|logs|diff|version", CLASS_NET_READ },
	{ "flux", "*", CLASS_NET_WRITE },
	{ "bq", "ls|show|head|version|info|help", CLASS_NET_READ },
	{ "bq", "*", CLASS_NET_WRITE },
	{ "mvn", "deploy|release:perform|site-deploy|deploy:deploy-file",
	    CLASS_NET_WRITE },
	{ "mvn", "clean|-q|package|verify|install deploy", CLASS_NET_WRITE },
	{ "mvn", "*", CLASS_READ },
	{ "gradle", "publish|uploadArchives|publishPlugins|bintrayUpload",
	    CLASS_NET_WRITE },
	{ "gradle", "*", CLASS_READ },
	{ "sbt", "publish|publishSigned|release", CLASS_NET_WRITE },
	{ "sbt", "*", CLASS_READ },
	{ "skopeo", "inspect|list-tags", CLASS_NET_READ },
	{ "skopeo", "*", CLASS_NET_WRITE },
	{ "crane", "digest|manifest|config|ls|catalog|export|pull|validate",
	    CLASS_NET_READ },
	{ "crane", "*", CLASS_NET_WRITE },
	{ "oras", "pull|discover|repo|manifest", CLASS_NET_READ },
	{ "oras", "*", CLASS_NET_WRITE },
	{ "hf", "download|env|version|cache|whoami", CLASS_NET_READ },
	{ "hf", "*", CLASS_NET_WRITE },
	{ "cosign", "verify|verify-blob|tree|version", CLASS_NET_READ },
	{ "cosign", "*", CLASS_NET_WRITE },
	{ "invoke-rc.d", "*", CLASS_ELEVATED },
	{ "fusermount", "*", CLASS_ELEVATED },
	{ "fusermount3", "*", CLASS_ELEVATED },
	{ "ssh-keyscan", "*", CLASS_NET_READ },
	/* databases */
	{ "mysqladmin", "drop", CLASS_DESTROY },
	{ "mysqladmin", "status|ping|processlist|version|variables|"
	    "extended-status", CLASS_READ },
	{ "mysqladmin", "*", CLASS_NET_WRITE },
	{ "rails", "db:drop|db:drop:all|db:reset|db:purge|db:purge:all|"
	    "db:truncate_all|db:schema:load|db:migrate:reset",
	    CLASS_DESTROY },
	{ "rails", "*", CLASS_READ },
	{ "rake", "db:drop|db:drop:all|db:reset|db:purge|db:purge:all|"
	    "db:truncate_all|db:schema:load|db:migrate:reset",
	    CLASS_DESTROY },
	{ "rake", "*", CLASS_READ },
	{ "prisma", "migrate reset", CLASS_DESTROY },
	{ "mkdocs", "gh-deploy", CLASS_NET_WRITE },
	{ "vsce", "publish", CLASS_NET_WRITE },
	{ "pre-commit", "install|uninstall", CLASS_MUTATE },
	{ "keyctl", "show|list|rlist|describe|print|read", CLASS_READ },
	{ "keyctl", "*", CLASS_ELEVATED }
};
#define NROWS	(sizeof(rows) / sizeof(rows[0]))
static struct names by_name = NAMES(rows);

/* One of "a|b|c"; an empty alternative is no word. */
static int
one_of(const char *list, size_t len, const char *word)
{
	size_t n, want = strlen(word);
	const char *end = list + len;

	for (;;) {
		for (n = 0; list + n < end && list[n] != '|'; n++)
			continue;
		if (n == want && strncmp(list, word, n) == 0)
			return (1);
		if (list + n >= end)
			return (0);
		list += n + 1;
	}
}

/* How a row's words and the operands compare: 1 fits. */
static int
fits(const struct sub_row *row, const char *const *words)
{
	const char *p = row->words;
	size_t i = 0, n;

	if (strcmp(p, "*") == 0)
		return (1);
	for (;;) {
		n = strcspn(p, " ");
		if (!one_of(p, n, words[i]))
			return (0);
		if (p[n] == '\0')
			return (1);
		p += n + 1;
		i++;
	}
}

static const char *
known_as(const char *name)
{
	static const struct same {
		const char	*name, *is;
	} same[] = {
		{ "pip3", "pip" }, { "pip2", "pip" }, { "podman", "docker" },
		{ "nerdctl", "docker" }, { "buildah", "docker" },
		{ "podman-compose", "docker-compose" }, { "microdnf", "dnf" },
		{ "dnf5", "dnf" }, { "pkgin", "apk" }, { "incus", "lxc" },
		{ "cnpm", "npm" }, { "sls", "serverless" },
		{ "huggingface-cli", "hf" }, { "gradlew", "gradle" },
		{ "mvnw", "mvn" },
		{ "ng", "code" }, { "nala", "apt" },
		{ "oc", "kubectl" }, { "k9s", "kubectl" },
		{ "microk8s", "minikube" }, { "tofu", "terraform" },
		{ "terragrunt", "terraform" }
	};
	static struct names same_by_name = NAMES(same);
	const struct same *known;

	if ((known = names_find(&same_by_name, name)) != NULL)
		return (known->is);
	if (name_begins(name, "pip3."))
		return ("pip");
	return (name);
}

/*
 * What a subcommand that only reads or runs the workspace's own is given may
 * be a command again: "cargo run -- rm -rf /".
 */
static void
sub_tail(const struct subject *s)
{
	size_t i;

	option_code(s);
	option_output(s);
	for (i = 2; i < s->argc; i++)
		if (dangerous_tail(s, i))
			return;
}

/* Programs of others that are fetched before they run: "go run x@v1". */
static int
runs_remote(const char *name, const struct word *what)
{
	const char *text = word_start(what);

	if (strcmp(name, "go") == 0)
		return (strchr(text, '@') != NULL);
	return (strcmp(name, "deno") == 0 && (strstr(text, "://") != NULL ||
	    strncmp(text, "npm:", 4) == 0 || strncmp(text, "jsr:", 4) == 0));
}

/*
 * Units and packages of Myelin's own: no call may stop, change or remove what
 * judges it.
 */
static int
names_myelin(const struct subject *s, const char *verb)
{
	static const char *const tools[] = { "systemctl", "service",
		"rc-service", "rc-update", "apt", "apt-get", "aptitude",
		"apt-mark", "nala", NULL };
	static const char *const removes[] = { "remove", "purge", "erase",
		"uninstall", "del", "rm", "autoremove", NULL };
	size_t i;

	if (!in_list(s->name, tools) && !in_list(verb, removes))
		return (0);
	for (i = 1; i < s->argc; i++)
		if (self_names(&s->argv[i]))
			return (1);
	return (0);
}

/*
 * A package by its name, which is nowhere but in the network: no path, no
 * archive, nothing that says to do without.
 */
static int
fetches_packages(const struct subject *s, const struct word *verb)
{
	static const char *const installers[] = { "pip", "pip2", "pip3",
		"pipx", "npm", "pnpm", "yarn", "gem", "cargo", NULL };
	static const char *const verbs[] = { "install", "i", "add", NULL };
	const char *text;
	size_t i;
	int named = 0;

	if (!in_list(s->name, installers) || !in_list(word_start(verb),
	    verbs))
		return (0);
	for (i = 1; i < s->argc; i++) {
		if ((text = word_static(&s->argv[i])) == NULL)
			return (0);
		if (strchr(text, '/') != NULL || strncmp(text, "file:", 5) ==
		    0 || text[0] == '.' || (text[0] == '-' &&
		    strcmp(text, "-U") != 0 && strcmp(text, "-g") != 0 &&
		    strcmp(text, "-q") != 0 && strcmp(text, "-D") != 0 &&
		    strcmp(text, "--user") != 0 && strcmp(text,
		    "--upgrade") != 0))
			return (0);
		if (text[0] != '-' && &s->argv[i] != verb)
			named = 1;
	}
	return (named);
}

static void
subcommand_find(const struct subject *s, enum class_id id,
    const struct word *w)
{
	if (id == CLASS_ELEVATED && names_myelin(s, word_start(w))) {
		class_find(s, HARD_SELF, "changes Myelin's own service");
		return;
	}
	if (id == CLASS_NET_READ) {
		handle_net_read(s);
		return;
	}
	if (id == CLASS_REMOTE && fetches_packages(s, w)) {
		struct subject at = *s;

		at.flags |= FINDING_NETWORK;
		class_findf(&at, id, "%s", w);
		return;
	}
	class_findf(s, id, CLASS_IS_HARD(id) ? "deletes or changes what "
	    "can't be had back: %s" : "%s", w);
}

int
is_subcommand(const char *name)
{
	return (names_find(&by_name, known_as(name)) != NULL);
}

int
subcommand_judge(const struct subject *s)
{
	struct optspec spec = { NULL, "prefix filter host registry cwd "
	    "directory manifest-path target project chdir context "
	    "log-level config", 0 };
	const char *name = known_as(s->name);
	const char *words[2] = { "", "" };
	const struct sub_row *row;
	const struct word *first;
	size_t i, j, at = 1;

	if ((row = names_find(&by_name, name)) == NULL)
		return (0);
	i = (size_t)(row - rows);
	sub_code(s, name, &spec);
	/* cargo +nightly */
	while (at < s->argc && word_start(&s->argv[at])[0] == '+')
		at++;
	first = opt_operand(s, at, &spec, 0);
	if (first != NULL && word_static(first) == NULL) {
		class_findf(s, CLASS_OPAQUE, "what it is to do is not known: "
		    "%s", &s->argv[0]);
		return (1);
	}
	for (j = 0; j < 2; j++) {
		const struct word *w = opt_operand(s, at, &spec, j);

		words[j] = w == NULL || word_static(w) == NULL ? "" : w->text;
	}
	if (strcmp(words[0], "run") == 0 && runs_remote(name, opt_operand(s,
	    at, &spec, 1)))
		class_findf(s, CLASS_REMOTE, "%s runs code from the network",
		    &s->argv[0]);
	for (; i < NROWS && strcmp(rows[i].program, name) == 0; i++) {
		if (fits(&rows[i], words)) {
			subcommand_find(s, rows[i].id, first == NULL ?
			    &s->argv[0] : first);
			if (rows[i].id == CLASS_READ)
				sub_tail(s);
			return (1);
		}
	}
	sub_tail(s);
	class_find(s, CLASS_READ, "changes nothing outside");
	return (1);
}
