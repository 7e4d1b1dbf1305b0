// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Wallet as _tollgate_ledger_v1_Wallet, Wallet__Output as _tollgate_ledger_v1_Wallet__Output } from '../../../tollgate/ledger/v1/Wallet.ts';

export interface ListWalletsResponse {
  'wallets'?: (_tollgate_ledger_v1_Wallet)[];
  'nextPageToken'?: (string);
}

export interface ListWalletsResponse__Output {
  'wallets': (_tollgate_ledger_v1_Wallet__Output)[];
  'nextPageToken': (string);
}
