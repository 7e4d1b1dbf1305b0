// Original file: proto/tollgate/ledger/v1/ledger.proto

export const WalletState = {
  WALLET_STATE_UNSPECIFIED: 'WALLET_STATE_UNSPECIFIED',
  WALLET_STATE_ACTIVE: 'WALLET_STATE_ACTIVE',
  WALLET_STATE_FROZEN: 'WALLET_STATE_FROZEN',
} as const;

export type WalletState =
  | 'WALLET_STATE_UNSPECIFIED'
  | 0
  | 'WALLET_STATE_ACTIVE'
  | 1
  | 'WALLET_STATE_FROZEN'
  | 2

export type WalletState__Output = typeof WalletState[keyof typeof WalletState]
