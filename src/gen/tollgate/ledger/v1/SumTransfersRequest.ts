// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface SumTransfersRequest {
  'walletId'?: (string);
  'derivesCharged'?: (boolean);
}

export interface SumTransfersRequest__Output {
  'walletId': (string);
  'derivesCharged': (boolean);
}
