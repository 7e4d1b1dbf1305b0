// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { WalletState as _tollgate_ledger_v1_WalletState, WalletState__Output as _tollgate_ledger_v1_WalletState__Output } from '../../../tollgate/ledger/v1/WalletState.ts';

export interface SetWalletStateRequest {
  'walletId'?: (string);
  'state'?: (_tollgate_ledger_v1_WalletState);
}

export interface SetWalletStateRequest__Output {
  'walletId': (string);
  'state': (_tollgate_ledger_v1_WalletState__Output);
}
