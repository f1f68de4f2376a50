@header@

terraform {
  required_version = ">= 1.4"

  required_providers {
    helm = {
      source  = "hashicorp/helm"
      version = ">= 2.0, < 4.0"
    }
  }
}

variable "release" {
  description = "Name of the Helm release."
  type        = string
}

variable "namespace" {
  description = "Namespace of the release."
  type        = string
}

variable "chart" {
  description = "Name of the chart."
  type        = string
}

variable "chart_version" {
  description = "Exact version of the chart."
  type        = string

  validation {
    condition     = can(regex("^[0-9]+\\.[0-9]+\\.[0-9]+$", var.chart_version))
    error_message = "The chart_version must be an exact version, for example 0.6.5."
  }
}

variable "values" {
  description = "Values files as text; the last one wins. They contain no secrets, because the provider prints them."
  type        = list(string)
}

variable "timeout" {
  description = "Seconds to wait: enough for pods to finish their runs and to pull images."
  type        = number
}

variable "chart_repository" {
  description = "Chart repository."
  type        = string
  default     = "@repository@"
}

variable "kubectl_flags" {
  description = "Flags of kubectl for the cluster of the provider, for example --context eu-1. Only agent-job needs them."
  type        = string
  default     = null
}

# Helm installs CRDs once and never upgrades them. Only agent-job has some.
resource "terraform_data" "crds" {
  count            = var.chart == "agent-job" ? 1 : 0
  triggers_replace = [var.chart_version]

  lifecycle {
    precondition {
      condition     = var.kubectl_flags != null
      error_message = "The chart agent-job has CRDs, which kubectl applies. Set kubectl_flags, for example -var 'kubectl_flags=--context eu-1'."
    }
  }

  provisioner "local-exec" {
    command = "helm show crds ${var.chart} --repo ${var.chart_repository} --version ${var.chart_version} | kubectl ${var.kubectl_flags} apply --server-side --force-conflicts --filename -"
  }
}

resource "helm_release" "agent" {
  name             = var.release
  namespace        = var.namespace
  create_namespace = true
  repository       = var.chart_repository
  chart            = var.chart
  version          = var.chart_version
  values           = var.values
  timeout          = var.timeout
  wait             = true
  max_history      = 5
  # A failed release remains, so that its cause can be found.
  atomic     = false
  depends_on = [terraform_data.crds]
}

output "release" {
  description = "Name of the Helm release."
  value       = helm_release.agent.name
}

output "namespace" {
  description = "Namespace of the release."
  value       = helm_release.agent.namespace
}

output "chart_version" {
  description = "Installed version of the chart."
  value       = helm_release.agent.version
}
