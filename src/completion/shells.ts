/** Shells whose Tab can be taught, with the file of templates/completion that does and the line that loads it for good. */
export const SHELLS = {
  bash: {file: 'scalr-agent.bash', load: "echo 'source <(scalr-agent completion bash)' >> ~/.bashrc"},
  zsh: {file: 'scalr-agent.zsh', load: "echo 'source <(scalr-agent completion zsh)' >> ~/.zshrc"},
  fish: {file: 'scalr-agent.fish', load: 'scalr-agent completion fish > ~/.config/fish/conf.d/scalr-agent.fish'},
  powershell: {
    file: 'scalr-agent.ps1',
    load: "Add-Content $PROFILE 'scalr-agent completion powershell | Out-String | iex'",
  },
} as const;
export type Shell = keyof typeof SHELLS;
