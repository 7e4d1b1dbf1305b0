// Original file: proto/tollgate/ledger/v1/ledger.proto

export const ScopeKind = {
  SCOPE_KIND_UNSPECIFIED: 'SCOPE_KIND_UNSPECIFIED',
  SCOPE_KIND_KEY: 'SCOPE_KIND_KEY',
  SCOPE_KIND_PARENT_KEY: 'SCOPE_KIND_PARENT_KEY',
  SCOPE_KIND_PROJECT: 'SCOPE_KIND_PROJECT',
  SCOPE_KIND_MEMBER: 'SCOPE_KIND_MEMBER',
  SCOPE_KIND_END_USER: 'SCOPE_KIND_END_USER',
  SCOPE_KIND_TAG: 'SCOPE_KIND_TAG',
  SCOPE_KIND_RUN: 'SCOPE_KIND_RUN',
} as const;

export type ScopeKind =
  | 'SCOPE_KIND_UNSPECIFIED'
  | 0
  | 'SCOPE_KIND_KEY'
  | 1
  | 'SCOPE_KIND_PARENT_KEY'
  | 2
  | 'SCOPE_KIND_PROJECT'
  | 3
  | 'SCOPE_KIND_MEMBER'
  | 4
  | 'SCOPE_KIND_END_USER'
  | 5
  | 'SCOPE_KIND_TAG'
  | 6
  | 'SCOPE_KIND_RUN'
  | 7

export type ScopeKind__Output = typeof ScopeKind[keyof typeof ScopeKind]
