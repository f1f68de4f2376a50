@header@
# Optional: creates the namespace and the Secret of the token. The token is in the state, but never in helm_release, which prints its values.

terraform {
  required_providers {
    kubernetes = {
      source  = "hashicorp/kubernetes"
      version = ">= 2.7, < 4.0"
    }
  }
}

variable "namespace" {
  description = "Namespace of the release."
  type        = string
}

variable "secret" {
  description = "Name of the Secret that the chart reads."
  type        = string
}

variable "key" {
  description = "Key of the token in the Secret."
  type        = string
  default     = "token"
}

variable "token" {
  description = "Agent pool token. Set TF_VAR_token, never a file. Required unless existing_secret_name is set."
  type        = string
  sensitive   = true
  default     = null
}

variable "existing_secret_name" {
  description = "Secret that already contains the token, instead of a token."
  type        = string
  default     = null

  validation {
    condition     = var.existing_secret_name == null || can(regex("^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", var.existing_secret_name))
    error_message = "The existing_secret_name must be the name of a Secret."
  }
}

resource "kubernetes_namespace_v1" "agent" {
  metadata {
    name = var.namespace
    labels = {
      "app.kubernetes.io/name"       = "scalr-agent"
      "app.kubernetes.io/managed-by" = "terraform"
    }
  }

  # With a namespace, Kubernetes deletes everything in it. To destroy the rest: tofu state rm, see README.md.
  lifecycle {
    prevent_destroy = true
  }
}

resource "kubernetes_secret_v1" "token" {
  count = var.existing_secret_name == null ? 1 : 0

  metadata {
    name      = var.secret
    namespace = kubernetes_namespace_v1.agent.metadata[0].name
  }

  data = {
    (var.key) = var.token
  }

  lifecycle {
    precondition {
      condition     = var.token != null
      error_message = "Set either token or existing_secret_name."
    }
  }
}

output "secret" {
  description = "Name of the Secret with the token."
  value       = var.existing_secret_name == null ? one(kubernetes_secret_v1.token[*].metadata[0].name) : var.existing_secret_name
}
