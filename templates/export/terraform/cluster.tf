@header@

variable "kubectl_flags" {
  description = "Flags of kubectl for the cluster of the provider, for example --context eu-1. Only agent-job needs them."
  type        = string
  default     = @flags@
}

# Ring: @ring@. Token: key @key@ of the Secret @secret@.
module "agent" {
  source = "../../modules/agent"

  release       = "@release@"
  namespace     = "@namespace@"
  chart         = "@chart@"
  chart_version = "@version@"
  timeout       = @timeout@
  kubectl_flags = var.kubectl_flags
  values = [
    file("${path.module}/../../base/@base@.yaml"),@values@
  ]
}

output "release" {
  description = "Name of the Helm release."
  value       = module.agent.release
}
